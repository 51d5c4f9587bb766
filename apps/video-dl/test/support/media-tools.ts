import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LocateOptions, locateMediaTools, type MediaTools } from '../../src/ffmpeg/tools.js';

/** The ffmpeg that the service uses in this run; by default the one on PATH, which makes all media. */
export const ffmpegUnderTest = process.env['TEST_FFMPEG'];

export async function mediaTools(options: LocateOptions = {}): Promise<MediaTools> {
  return locateMediaTools({ ffmpegPath: ffmpegUnderTest, ...options });
}

const folder = fileURLToPath(new URL('../../../../.tools/ffmpeg-builds', import.meta.url));

/** The builds of ffmpeg that set-up has installed. */
export function otherBuilds(): { build: string; ffmpeg: string }[] {
  return readdirSync(folder).map((build) => ({ build, ffmpeg: join(folder, build, 'ffmpeg') }));
}
