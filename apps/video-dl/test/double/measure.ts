import type { IncomingHttpHeaders } from 'node:http';
import { execa } from 'execa';
import { inspect } from '../media/support/inspect.js';

/** What a result contains. */
export interface Measured {
  readonly seconds: number;
  /** Pixels; null without video. */
  readonly height: number | null;
  /** Frequency of the audio, a single tone, in Hz; null without audio. */
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

/** Counts zero crossings between the first and third second, because a decoder's first and last frames are incomplete. */
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

/** What a stream waited for the end of advertisements, as its `Server-Timing` tells. */
export function waitedSeconds(headers: IncomingHttpHeaders): number {
  const ms = /\bavailability;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1];
  return Number(ms ?? 0) / 1000;
}
