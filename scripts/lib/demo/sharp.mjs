import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../project.mjs';

/** The sharp that bg-removal has installed; there after set-up only. */
export function loadSharp() {
  return createRequire(join(root, 'apps', 'bg-removal', 'package.json'))('sharp');
}
