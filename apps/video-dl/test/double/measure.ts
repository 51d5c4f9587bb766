import { execa } from 'execa';
import { inspect } from '../media/support/inspect.js';

/** What a result contains. */
export interface Measured {
  readonly seconds: number;
  /** Pixels; null where there is no picture. */
  readonly height: number | null;
  /** Hertz of the sound, which is one tone; null where there is none. */
  readonly pitch: number | null;
}

export async function measure(file: string): Promise<Measured> {
  const { streams, format } = await inspect(file, 'packets');
  const picture = streams.find(({ codec_type }) => codec_type === 'video');
  const hasSound = streams.some(({ codec_type }) => codec_type === 'audio');
  return {
    seconds: format.duration ?? 0,
    height: picture?.height ?? null,
    pitch: hasSound ? await pitchOf(file) : null,
  };
}

const sampleRate = 16_000;

/** By the zero crossings between the first second and the third: a decoder starts and ends with less than whole frames. */
async function pitchOf(file: string): Promise<number> {
  const raw = ['-map', '0:a', '-f', 's16le', '-ac', '1', '-ar', String(sampleRate), '-'];
  const { stdout } = await execa('ffmpeg', ['-loglevel', 'error', '-i', file, ...raw], {
    encoding: 'buffer',
  });
  const all = new Int16Array(stdout.buffer, stdout.byteOffset, Math.floor(stdout.byteLength / 2));
  const samples = all.subarray(sampleRate, 3 * sampleRate);
  let crossings = 0;
  for (let place = 1; place < samples.length; place += 1) {
    if ((samples[place - 1] ?? 0) < 0 && (samples[place] ?? 0) >= 0) crossings += 1;
  }
  return Math.round((crossings * sampleRate) / samples.length);
}
