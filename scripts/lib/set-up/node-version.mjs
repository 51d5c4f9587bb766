import { projectManifest } from '../project.mjs';
import { UserError } from '../user-error.mjs';

/** True when `version` is at least `minimum`; both like `20.19.0`. */
export function isAtLeast(version, minimum) {
  const [left, right] = [version, minimum].map((text) => text.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The oldest Node that package.json allows, like `20.19`. */
export function minimumNodeVersion(root) {
  return projectManifest(root).engines.node.replace(/^>=/, '');
}

export function checkNodeVersion(root, version = process.versions.node) {
  const minimum = minimumNodeVersion(root);
  if (isAtLeast(version, minimum)) return;
  throw new UserError(
    `Node ${version} is too old: ${minimum} or later is needed. See https://nodejs.org for a newer one.`,
  );
}
