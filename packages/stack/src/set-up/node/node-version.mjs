import { projectManifest } from '../project.mjs';
import { UserError } from '../user-error.mjs';

/**
 * Whether `version` is at least `minimum`; both look like `20.19.0`.
 * @param {string} version
 * @param {string} minimum
 */
export function isAtLeast(version, minimum) {
  const left = version.split('.').map(Number);
  const right = minimum.split('.').map(Number);
  for (let index = 0; index < 3; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/**
 * The oldest Node version that package.json allows, like `20.19`.
 * @param {string} root
 */
export function minimumNodeVersion(root) {
  return projectManifest(root).engines.node.replace(/^>=/, '');
}

/** @param {string} root */
export function checkNodeVersion(root, version = process.versions.node) {
  const minimum = minimumNodeVersion(root);
  if (isAtLeast(version, minimum)) return;
  throw new UserError(
    `Node ${version} is too old: ${minimum} or later is needed. See https://nodejs.org for a newer one.`,
  );
}
