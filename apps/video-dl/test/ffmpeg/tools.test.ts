import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { copiedAudioArguments, mp3Arguments, mp4Arguments } from '../../src/ffmpeg/arguments.js';
import { inputArguments } from '../../src/ffmpeg/inputs.js';
import { startMediaProcess } from '../../src/ffmpeg/process.js';
import { checkMuxing, MuxingCheckError } from '../../src/ffmpeg/self-check.js';
import { locateMediaTools, MediaToolsMissingError } from '../../src/ffmpeg/tools.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-tools-'));
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
      searchPath: join(folder, 'broken'),
    });
    expect(tools).toEqual({
      ffmpeg: join(folder, 'path/ffmpeg'),
      ffprobe: join(folder, 'path/ffprobe'),
      version: '7.1.5',
    });
  });

  it('looks for ffprobe on PATH if it is not next to ffmpeg', async () => {
    await fake('alone/ffmpeg', 'echo "ffmpeg version 6.0-static Copyright"');
    const searchPath = [join(folder, 'alone'), join(folder, 'path')].join(delimiter);
    await expect(locateMediaTools({ searchPath })).resolves.toEqual({
      ffmpeg: join(folder, 'alone/ffmpeg'),
      ffprobe: join(folder, 'path/ffprobe'),
      version: '6.0',
    });
  });

  it('explains how to install a missing ffmpeg', async () => {
    const missing = locateMediaTools({ searchPath: join(folder, 'empty') });
    await expect(missing).rejects.toThrow(MediaToolsMissingError);
    await expect(missing).rejects.toThrow(/apt-get install ffmpeg.*FFMPEG_PATH/su);
  });

  it('names the setting if its file does not exist', async () => {
    await expect(locateMediaTools({ ffmpegPath: '/nonexistent/ffmpeg' })).rejects.toThrow(/FFMPEG_PATH is/u);
  });

  it('rejects an ffmpeg that does not run', async () => {
    await expect(locateMediaTools({ searchPath: join(folder, 'broken') })).rejects.toThrow(/doesn't run/u);
  });

  it.each(['4.4.2-0ubuntu0.22.04.1', '5.0.3'])('rejects ffmpeg %s, which is too old', async (version) => {
    await fake('old/ffmpeg', `echo "ffmpeg version ${version} Copyright"`);
    const searchPath = [join(folder, 'old'), join(folder, 'path')].join(delimiter);
    await expect(locateMediaTools({ searchPath })).rejects.toThrow(/at least 5\.1/u);
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

describe("the image's ffmpeg", () => {
  /** Names that `configure` spells differently. */
  const configureNames: Readonly<Record<string, string>> = {
    webm: 'matroska',
    ...Object.fromEntries(['mp4', 'm4a', '3gp', '3g2', 'mj2'].map((name) => [name, 'mov'])),
    mpeg: 'mpegps',
    msmpeg4: 'msmpeg4v3',
  };
  /** Decoders of other libraries. The image uses ffmpeg's own for the same codecs. */
  const otherLibraries = new Set(['libaom-av1', 'libvpx', 'libvpx-vp9', 'libopus', 'libvorbis', 'libspeex']);

  /** The names in one or more of the script's lists, or after its options. */
  async function built(...lists: readonly string[]): Promise<string[]> {
    const script = await readFile(
      new URL('../../../../scripts/image/build-ffmpeg.sh', import.meta.url),
      'utf8',
    );
    const listed = (list: string) => new RegExp(`(?:^|[ ])${list}=(\\S+)`, 'm').exec(script)?.[1] ?? '';
    return lists.flatMap((list) => listed(list).replaceAll('"', '').split(','));
  }

  it.each([
    ['containers', '-format_whitelist', ['demuxers']],
    ['decoders', '-codec_whitelist', ['video', 'audio', 'pcm']],
  ] as const)('is built with the %s that we allow', async (_what, option, lists) => {
    const given = inputArguments([{ url: 'x' }], { threads: 1 });
    const allowed = given[given.indexOf(option) + 1]?.split(',') ?? [];
    const names = await built(...lists);
    expect(names).not.toEqual([]);
    const missing = allowed.filter(
      (name) => !otherLibraries.has(name) && !names.includes(configureNames[name] ?? name),
    );
    expect(missing).toEqual([]);
  });

  it('is built with the containers that we write, and the format in which it reads covers', async () => {
    const [input, audio, title] = [{ url: 'x' }, { action: 'copy', codec: 'opus' }, { title: 'T' }] as const;
    const calls = [
      mp4Arguments([input], { video: null, audio }, title, {}),
      mp3Arguments(input, audio, {}),
      copiedAudioArguments(input, audio, 'm4a', title, {}),
      copiedAudioArguments(input, audio, 'ogg', title, {}, input),
    ];
    const formats = calls.flatMap((words) =>
      words.flatMap((word, index) => (word === '-f' ? (words[index + 1] ?? '') : [])),
    );
    expect(formats).toEqual(['mp4', 'mp3', 'mp4', 'ffmetadata', 'ogg']);
    const [demuxers, muxers] = [await built('--enable-demuxer'), await built('--enable-muxer')];
    expect(demuxers).toContain('ffmetadata');
    expect(muxers).toEqual(expect.arrayContaining(['mp4', 'mp3', 'ogg']));
  });
});
