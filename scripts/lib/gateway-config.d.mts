export const gatewayDefaults: Readonly<Record<string, string>>;
export function gatewaySettings(gatewayDir: string, env: NodeJS.ProcessEnv): Record<string, string>;
export function substitute(text: string, variables: Readonly<Record<string, string>>): string;
export function renderGateway(options: {
  gatewayDir: string;
  runDir: string;
  variables: Readonly<Record<string, string>>;
  env?: NodeJS.ProcessEnv;
}): string;
