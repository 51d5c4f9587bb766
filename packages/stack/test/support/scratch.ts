import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** Creates an empty folder, deleted after the file's tests. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'set-up-test-'));
  folders.push(folder);
  return folder;
}

/** Writes an executable shell script and returns its path. */
export function fakeProgram(folder: string, name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
