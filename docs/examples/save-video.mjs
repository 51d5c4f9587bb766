import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

const { BASE_URL, VIDEO_URL } = process.env;

const query = new URLSearchParams({ url: VIDEO_URL, fmt: 'mp4-1080' });
const response = await fetch(`${BASE_URL}/api/stream/video?${query}`);
if (!response.ok) throw new Error((await response.json()).detail);

// Rejects if the stream breaks off, so only a complete file gets its name.
await pipeline(response.body, createWriteStream('video.mp4.part'));
await rename('video.mp4.part', 'video.mp4');
