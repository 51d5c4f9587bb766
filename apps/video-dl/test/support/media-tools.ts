import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LocateOptions, locateMediaTools, type MediaTools } from '../../src/ffmpeg/tools.js';

/** The ffmpeg that the service uses in this run; by default the one on PATH, which makes all media. */
export const ffmpegUnderTest = process.env['TEST_FFMPEG'];

export async function mediaTools(options: LocateOptions = {}): Promise<MediaTools> {
  return locateMediaTools({ ffmpegPath: ffmpegUnderTest, ...options });
}

const folder = fileURLToPath(new URL('../../../../.tools/tested-ffmpeg', import.meta.url));

/** The other versions of ffmpeg that set-up has installed for tests. */
export function otherVersions(): { version: string; ffmpeg: string }[] {
  return readdirSync(folder).map((version) => ({ version, ffmpeg: join(folder, version, 'ffmpeg') }));
}
