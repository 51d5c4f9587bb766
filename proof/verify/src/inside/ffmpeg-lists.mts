/** Prints the containers and decoders that video-dl allows but its ffmpeg lacks; runs in video-dl's image. */
import { execFileSync } from 'node:child_process';

interface Arguments {
  readonly inputArguments: (inputs: readonly { url: string }[], tools: object) => string[];
}

/** Decoders from other libraries, which only some builds have; ffmpeg has its own for the same codecs. */
const alternatives = new Set(['libaom-av1', 'libvpx', 'libvpx-vp9', 'libopus', 'libvorbis', 'libspeex']);

const modulePath: string = '/app/dist/ffmpeg/inputs.js';
const { inputArguments } = (await import(modulePath)) as Arguments;
const given = inputArguments([{ url: 'x' }], {});
const allowed = (option: string) => given[given.indexOf(option) + 1]?.split(',') ?? [];

function known(list: string): Set<string> {
  const text = execFileSync('ffmpeg', ['-hide_banner', list], { encoding: 'utf8' });
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  return new Set(lines.flatMap(([, names = '']) => names.split(',')));
}

const lacks = (names: readonly string[], list: string) => {
  const has = known(list);
  return names.filter((name) => !has.has(name) && !alternatives.has(name));
};
process.stdout.write(
  JSON.stringify({
    allowed: allowed('-format_whitelist').length + allowed('-codec_whitelist').length,
    missing: [
      ...lacks(allowed('-format_whitelist'), '-demuxers'),
      ...lacks(allowed('-codec_whitelist'), '-decoders'),
    ],
  }),
);
