import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

const { BASE_URL, VIDEO_URL } = process.env;

const response = await fetch(`${BASE_URL}/api/stream?${new URLSearchParams({ url: VIDEO_URL })}`);
if (!response.ok) throw new Error((await response.json()).detail);

// Rejects if the stream breaks off, so only a complete file gets its name.
await pipeline(response.body, createWriteStream('audio.mp3.part'));
await rename('audio.mp3.part', 'audio.mp3');
