import { execFile } from 'node:child_process';
import { mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const mediaFolder = fileURLToPath(new URL('../.tools/video', import.meta.url));

const audio = (seconds) => [
  '-f',
  'lavfi',
  '-i',
  `anoisesrc=color=pink:amplitude=0.3:sample_rate=44100:duration=${seconds}`,
];
const aac = ['-c:a', 'aac', '-b:a', '128k'];

/** What the benchmark reads: by name, ffmpeg's arguments. Noise, so that bit rates are those of real material. */
const recipes = {
  'short.mp4': [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25:duration=10', ...audio(10)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50', '-b:v', '2500k'],
    ...[...aac, '-movflags', '+faststart'],
  ],
  'piece.mp4': [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25:duration=8', ...audio(8)],
    ...['-vf', 'noise=alls=40:allf=t', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-g', '50', '-b:v', '20M', '-maxrate', '20M', '-bufsize', '20M', ...aac],
  ],
  'sound.m4a': [...audio(600), ...aac, '-movflags', '+faststart'],
};

async function exists(file) {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function make(name, args) {
  const file = join(mediaFolder, name);
  if (await exists(file)) return file;
  console.log(`making ${name} …`);
  const draft = join(mediaFolder, `draft-${name}`);
  await run('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', ...args, draft]);
  await rename(draft, file);
  return file;
}

/** Makes what is not there yet, all of it in `.tools/`, and tells sizes. */
export async function makeMedia({ largeBytes }) {
  await mkdir(mediaFolder, { recursive: true });
  await make('short.mp4', recipes['short.mp4']);
  await make('sound.m4a', recipes['sound.m4a']);
  const piece = await make('piece.mp4', recipes['piece.mp4']);
  const loops = Math.ceil(largeBytes / (await stat(piece)).size) - 1;
  const large = `large-${loops}.mp4`;
  const args = ['-stream_loop', String(loops), '-i', piece, '-c', 'copy', '-movflags', '+faststart'];
  await make(large, args);
  return { large, largeSize: (await stat(join(mediaFolder, large))).size };
}
