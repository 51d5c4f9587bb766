import { lookupBehindProxy, type Double } from '@media-services/fault-site/double';
import type { ContextOverrides } from '../../dist/service.js';
import { startService, type TestService } from '../support/service.js';

/** A service for which the double is the internet. */
export async function startBehind(
  double: Double,
  env: Readonly<Record<string, string>> = {},
  overrides: ContextOverrides & { readonly cold?: boolean } = {},
): Promise<TestService> {
  return startService({ ...double.settings, ...env }, { lookup: lookupBehindProxy, ...overrides });
}
