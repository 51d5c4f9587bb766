import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { film } from '@media-services/fault-site';
import { execa } from 'execa';
import { stack } from '../support/stack.js';
import type { Client } from '../support/client.js';

/** One way in which the service makes a file. */
export interface Delivery {
  readonly name: string;
  readonly path: '/api/stream' | '/api/stream/video';
  readonly query: Readonly<Record<string, string>>;
  readonly extension: 'mp4' | 'mp3' | 'm4a';
  readonly seconds: number;
}

const page = (media: string) => `${stack.films}/watch?media=${media}`;
const clip = { start: '3.4', end: '7' };
const { durationSeconds: seconds } = film;
const video = { path: '/api/stream/video', extension: 'mp4', seconds } as const;
const audio = { path: '/api/stream', seconds } as const;

export const deliveries: readonly Delivery[] = [
  { ...video, name: 'MP4, passed on', query: { url: page('film-720.mp4') } },
  { ...video, name: 'MP4, remuxed', query: { url: page('players.mov') } },
  { ...video, name: 'MP4, made from Matroska', query: { url: page('players.mkv') } },
  { ...video, name: 'MP4, joined from HLS', query: { url: `${stack.films}/film-hls` } },
  { ...video, name: 'MP4, a clip', query: { url: page('film-720.mp4'), ...clip }, seconds: 3.6 },
  { ...audio, name: 'MP3', extension: 'mp3', query: { url: page('film-720.mp4') } },
  {
    ...audio,
    name: 'MP3, a clip',
    extension: 'mp3',
    query: { url: page('film-720.mp4'), ...clip },
    seconds: 3.6,
  },
  {
    ...audio,
    name: 'original, passed on',
    extension: 'm4a',
    query: { url: page('players.m4a'), fmt: 'original' },
  },
  {
    ...audio,
    name: 'original, copied',
    extension: 'm4a',
    query: { url: page('film-720.mp4'), fmt: 'original' },
  },
];

/** Puts the film into more containers, on the sample site. */
export async function makeSources(): Promise<void> {
  const input = join(stack.folder, 'film-720.mp4');
  for (const [name, ...options] of [['players.mov'], ['players.mkv'], ['players.m4a', '-vn']] as const)
    await execa(process.env.FFMPEG_PATH || 'ffmpeg', [
      ...['-v', 'error', '-nostdin', '-y', '-i', input, ...options, '-c', 'copy', join(stack.folder, name)],
    ]);
}

/** Downloads a file through the gateway. */
export async function download(client: Client, delivery: Delivery, file: string): Promise<void> {
  const response = await fetch(`${client.url}${delivery.path}?${new URLSearchParams(delivery.query)}`);
  expect(response.status).toBe(200);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
}
