import { execa } from 'execa';

/** The pitch of a file's sound in hertz, which tells the languages of the sites' doubles apart. */
export async function pitchOf(file: string): Promise<number> {
  const pcm = ['-map', '0:a', '-ac', '1', '-ar', '48000', '-f', 's16le', '-'];
  const { stdout } = await execa('ffmpeg', ['-v', 'error', '-i', file, ...pcm], { encoding: 'buffer' });
  const bytes = Buffer.from(stdout);
  const samples = Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
  const rises = samples.filter((value, index) => value >= 0 && (samples[index - 1] ?? 0) < 0);
  return Math.round((rises.length * 48_000) / samples.length / 10) * 10;
}
