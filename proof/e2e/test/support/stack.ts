import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing: global-setup.ts sets it.`);
  return value;
}

export const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The stack that global-setup.ts has started. */
export const stack = {
  gateway: given('E2E_GATEWAY'),
  /** Where the services listen themselves, host:port. */
  videoDl: given('E2E_VIDEO_DL'),
  bgRemoval: given('E2E_BG_REMOVAL'),
  /** The sample site of proof/fault-site. */
  films: given('E2E_SITE'),
  pages: given('E2E_SITE'),
  metrics: [given('E2E_VIDEO_DL_METRICS'), given('E2E_BG_REMOVAL_METRICS')],
  photo: join(given('E2E_FOLDER'), 'photo.jpg'),
  /** What the sample site serves. */
  folder: given('E2E_FOLDER'),
  logsDir: given('E2E_LOGS'),
  videoDlPid: Number(given('E2E_VIDEO_DL_PID')),
  /** On loopback; the stack may read a site that a test starts here, on any port. */
  ownSiteAddress: given('E2E_OWN_SITE_ADDRESS'),
};
