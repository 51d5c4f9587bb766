// Validates the operator's settings and prints the variables of the templates as NAME=value lines. The
// build bundles it (../build.ts): `npm start` runs it with Node, the container with QuickJS.
import { ConfigError, loadConfig } from '@media-services/http-common/config/load-config';
import { gatewaySchema } from './gateway-settings.js';
import { host } from './host.js';
import { templateVariables } from './template-variables.js';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;

try {
  const settings = loadConfig(gatewaySchema, host.env, host.warn);
  const variables = templateVariables(settings, host.env, host.read);
  for (const [name, value] of Object.entries(variables)) host.print(`${name}=${value}`);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  host.warn(error.message);
  host.exit(configurationExitCode);
}
