import { readFile } from 'node:fs/promises';
import { inputArguments } from '../../dist/ffmpeg/arguments.js';

/** Names that `configure` spells differently. */
const configureNames: Readonly<Record<string, string>> = {
  webm: 'matroska',
  ...Object.fromEntries(['mp4', 'm4a', '3gp', '3g2', 'mj2'].map((name) => [name, 'mov'])),
  mpeg: 'mpegps',
  msmpeg4: 'msmpeg4v3',
  ...Object.fromEntries(['8svx_exp', '8svx_fib'].map((name) => [name, name.replace('8', 'eight')])),
  ...Object.fromEntries(['g722', 'g726', 'g726le'].map((name) => [name, `adpcm_${name}`])),
};
/** Decoders of other libraries. The image uses ffmpeg's own for the same codecs. */
const otherLibraries = new Set(['libaom-av1', 'libvpx', 'libvpx-vp9', 'libopus', 'libvorbis', 'libspeex']);

/** The names in one or more of the script's lists. */
async function built(...lists: readonly string[]): Promise<string[]> {
  const script = await readFile(
    new URL('../../../../scripts/image/build-ffmpeg.sh', import.meta.url),
    'utf8',
  );
  return lists.flatMap((list) => new RegExp(`^${list}=(.+)$`, 'm').exec(script)?.[1]?.split(',') ?? []);
}

it.each([
  ['containers', '-format_whitelist', ['demuxers']],
  ['decoders', '-codec_whitelist', ['video', 'audio', 'pcm']],
] as const)("the image's ffmpeg is built with the %s that we allow", async (_what, option, lists) => {
  const given = inputArguments([{ url: 'x' }], { threads: 1 });
  const allowed = given[given.indexOf(option) + 1]?.split(',') ?? [];
  const names = await built(...lists);
  expect(names).not.toEqual([]);
  const missing = allowed.filter(
    (name) => !otherLibraries.has(name) && !names.includes(configureNames[name] ?? name),
  );
  expect(missing).toEqual([]);
});
