import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMediaProcess } from '../../dist/ffmpeg/process.js';
import { checkMuxing, MuxingCheckError } from '../../dist/ffmpeg/self-check.js';
import { locateMediaTools, MediaToolsMissingError } from '../../dist/ffmpeg/tools.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-tools-'));
  await fake('bundled/ffmpeg', 'echo "ffmpeg version 6.0-static Copyright"');
  await fake(
    'path/ffmpeg',
    'echo "ffmpeg version 7.1.5-0+deb13u1 Copyright"; echo " -extension_picky <boolean>"',
  );
  await fake('path/ffprobe', 'echo "ffprobe version 7.1.5-0+deb13u1 Copyright"');
  await fake('broken/ffmpeg', 'echo "cannot load libx264.so" >&2; exit 127');
  await fake('broken/ffprobe', 'echo "ffprobe version 1.0"');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function fake(name: string, script: string): Promise<void> {
  const file = join(folder, name);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

describe('locateMediaTools', () => {
  it('prefers the configured ffmpeg', async () => {
    const tools = await locateMediaTools({
      ffmpegPath: join(folder, 'path/ffmpeg'),
      bundledFfmpeg: join(folder, 'bundled/ffmpeg'),
      searchPath: join(folder, 'broken'),
    });
    expect(tools).toEqual({
      ffmpeg: join(folder, 'path/ffmpeg'),
      ffprobe: join(folder, 'path/ffprobe'),
      version: '7.1.5',
    });
  });

  it("prefers PATH over ffmpeg-static's binary", async () => {
    const tools = await locateMediaTools({
      bundledFfmpeg: join(folder, 'bundled/ffmpeg'),
      searchPath: join(folder, 'path'),
    });
    expect(tools.ffmpeg).toBe(join(folder, 'path/ffmpeg'));
  });

  it("uses ffmpeg-static's binary if PATH has no ffmpeg, and ffprobe from PATH", async () => {
    await fake('probe/ffprobe', 'echo "ffprobe version 6.0"');
    const tools = await locateMediaTools({
      bundledFfmpeg: join(folder, 'bundled/ffmpeg'),
      searchPath: join(folder, 'probe'),
    });
    expect(tools).toEqual({
      ffmpeg: join(folder, 'bundled/ffmpeg'),
      ffprobe: join(folder, 'probe/ffprobe'),
      version: '6.0',
    });
  });

  it('explains how to install a missing ffmpeg', async () => {
    const missing = locateMediaTools({ bundledFfmpeg: null, searchPath: join(folder, 'empty') });
    await expect(missing).rejects.toThrow(MediaToolsMissingError);
    await expect(missing).rejects.toThrow(/apt-get install ffmpeg.*FFMPEG_PATH/su);
  });

  it('names the setting if its file does not exist', async () => {
    await expect(locateMediaTools({ ffmpegPath: '/nonexistent/ffmpeg' })).rejects.toThrow(/FFMPEG_PATH is/u);
  });

  it('rejects an ffmpeg that does not run', async () => {
    await expect(
      locateMediaTools({ bundledFfmpeg: null, searchPath: join(folder, 'broken') }),
    ).rejects.toThrow(/doesn't run/u);
  });

  it('finds the real one here', async () => {
    const tools = await locateMediaTools();
    expect(tools.version).toMatch(/^\d+\.\d+/u);
  });
});

describe('checkMuxing', () => {
  it('passes with a real ffmpeg', async () => {
    await expect(
      checkMuxing(await locateMediaTools(), AbortSignal.timeout(120_000)),
    ).resolves.toBeUndefined();
  });

  it("fails with ffmpeg's message when it cannot encode", async () => {
    const tools = { ...(await locateMediaTools()), ffmpeg: join(folder, 'broken/ffmpeg') };
    const check = checkMuxing(tools, AbortSignal.timeout(120_000));
    await expect(check).rejects.toThrow(MuxingCheckError);
    await expect(check).rejects.toThrow(/cannot load libx264/u);
  });

  it('fails when ffmpeg exits 0 without an output', async () => {
    const silent = join(folder, 'silent-ffmpeg');
    await symlink('/bin/true', silent);
    const tools = { ...(await locateMediaTools()), ffmpeg: silent };
    await expect(checkMuxing(tools, AbortSignal.timeout(120_000))).rejects.toThrow(/isn't one second/u);
  });
});

it('reports an unavailable engine when ffmpeg cannot be started', async () => {
  const { signal } = new AbortController();
  await expect(startMediaProcess({ file: '/nonexistent/ffmpeg', args: [], signal })).rejects.toMatchObject({
    code: 'engine_unavailable',
  });
});
