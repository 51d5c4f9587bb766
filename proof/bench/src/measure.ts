import { get } from 'node:http';
import { execa } from 'execa';
import { median } from './statistics.js';

/** Runs `work` several times in sequence and returns the median of its results. */
export async function medianOf(times: number, work: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < times; index += 1) values.push(await work());
  return median(values);
}

/**
 * Runs several functions in alternating rounds, so that other load on the machine affects all of
 * them. Every other round is in reverse order, because one function's leftovers slow the next one.
 * @returns each function's results, in the order of the rounds
 */
export async function inTurn<Name extends string>(
  rounds: number,
  runs: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(runs) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) measured[name].push(await runs[name]());
  }
  return measured;
}

/** Milliseconds until the whole response has arrived. */
export async function timeAnswer(url: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status} from ${url}`);
  return performance.now() - start;
}

/** Milliseconds until the first byte of a stream; the rest is not read. */
export function timeFirstByte(url: string): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode ?? 'nothing'} from ${url}`));
      response.once('data', () => {
        resolve(performance.now() - start);
        request.destroy();
      });
      // Aborting the unread rest is expected.
      response.on('error', () => undefined);
    });
    request.on('error', reject);
  });
}

/** Milliseconds until curl has all of a stream. */
export function timeDownload(url: string): Promise<number> {
  return timeCommand('curl', ['--silent', '--show-error', '--fail', '--output', '/dev/null', url]);
}

/** How long a command takes, in milliseconds. @throws ExecaError if it fails */
export async function timeCommand(file: string, args: readonly string[]): Promise<number> {
  const start = performance.now();
  await execa(file, args, { stdin: 'ignore', stdout: 'ignore' });
  return performance.now() - start;
}

const copyToPipe = [
  ...['-c', 'copy', '-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov'],
  ...['-f', 'mp4', 'pipe:1'],
];

/** The arguments that the service passes to ffmpeg. */
export const bareFfmpeg = {
  mp4: copyToPipe,
  hls: ['-bsf:a', 'aac_adtstoasc', ...copyToPipe],
  mp3: ['-vn', '-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3', 'pipe:1'],
};

/** ffmpeg reads the same URL and writes to a pipe, as it does for the service. */
export function timeBareFfmpeg(url: string, args: readonly string[]): Promise<number> {
  const command = ['ffmpeg', '-v', 'error', '-nostdin', '-i', url, ...args].join(' ');
  return timeCommand('bash', ['-o', 'pipefail', '-c', `${command} | cat > /dev/null`]);
}
