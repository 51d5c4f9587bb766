import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newClient } from './support/client.js';
import { root, stack } from './support/stack.js';

const run = promisify(execFile);
const program = join(root, 'packages/client/bin/media-services.js');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'media-services-command-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function command(url: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, MEDIA_SERVICES_URL: url };
  return (await run(process.execPath, [program, ...args], { cwd: folder, env })).stdout;
}

/** The first bytes of the file at the path that a command printed. */
function firstBytes(stdout: string): string {
  return readFileSync(join(folder, stdout.trim())).subarray(0, 12).toString('latin1');
}

describe('the command media-services, through the gateway', () => {
  it('saves the MP3 and the MP4 of a page', async () => {
    await using client = await newClient();
    const page = `${stack.films}/film`;
    expect(firstBytes(await command(client.url, 'video', page, '--mp3'))).toMatch(/^ID3/);
    expect(firstBytes(await command(client.url, 'video', page, '--1080'))).toMatch(/^.{4}ftyp/s);
  });

  it('cuts out the image of a folder', async () => {
    await using client = await newClient();
    copyFileSync(stack.photo, join(folder, 'one.jpg'));

    await command(client.url, 'cutout', '.');

    expect(readdirSync(join(folder, 'cutouts')).sort()).toEqual(['one.png']);
    expect(readFileSync(join(folder, 'cutouts/one.png')).subarray(1, 4).toString()).toBe('PNG');
  });
});
