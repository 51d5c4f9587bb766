import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageSchema = z.object({ version: z.string() });

/** The version in a `package.json`, given as file URL. */
export function packageVersion(packageJson: URL): string {
  return packageSchema.parse(JSON.parse(readFileSync(packageJson, 'utf8'))).version;
}
