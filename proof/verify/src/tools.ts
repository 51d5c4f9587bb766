import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createVenv, toolsDir } from '@media-services/stack/set-up';
import { run } from './run.js';

/**
 * A program of a Go module at one version, installed into .tools where it is not there yet.
 * @param path of its main package
 * @returns the program's path
 */
export async function goTool(path: string, version: string): Promise<string> {
  const name =
    path
      .replace(/\/v\d+$/, '')
      .split('/')
      .at(-1) ?? path;
  const folder = join(toolsDir, `${name}-${version}`);
  const program = join(folder, name);
  if (!existsSync(program)) {
    await mkdir(folder, { recursive: true });
    await run('go', ['install', `${path}@${version}`], { env: { GOBIN: folder }, cwd: folder });
  }
  return program;
}

/** A program of a PyPI package at one version, as `goTool`. */
export async function pythonTool(name: string, version: string): Promise<string> {
  const venv = join(toolsDir, `${name}-${version}`);
  const program = join(venv, 'bin', name);
  if (!existsSync(program)) {
    const problem = await createVenv({ venv, env: process.env });
    if (problem !== undefined) throw new Error(problem);
    await run(join(venv, 'bin', 'pip'), ['install', '--quiet', `${name}==${version}`]);
  }
  return program;
}
