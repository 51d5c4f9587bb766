import { execa } from 'execa';

const sampleRate = 16_000;

/** Frequency of a single tone. Counts zero crossings between the first and third second, because a decoder's first and last frames are incomplete. */
export async function pitchOf(file: string): Promise<number> {
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
