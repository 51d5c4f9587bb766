import { findExecutable } from '../executables.mjs';

/** The headless shell comes first: it has no windows to prepare, so a page costs it half the time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/**
 * The browser that opens the web page in tests and measurements: CHROMIUM_PATH, or Chromium on PATH.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function findBrowser(env = process.env) {
  return env.CHROMIUM_PATH || names.map((name) => findExecutable(name, [], env)).find(Boolean);
}
