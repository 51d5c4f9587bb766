import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeLongFilm, makeLongSound, makeOtherContainers, makeSampleFilm } from '@media-services/fault-site';
import { toolsDir } from '@media-services/stack/set-up';

/** Creates missing media and keeps them for the next run. @returns the folder */
export async function benchMedia(largeBytes: number): Promise<string> {
  const folder = join(toolsDir, 'bench-media', `${Math.round(largeBytes / 1e6)}-mb`);
  if (await exists(folder)) return folder;
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  process.stdout.write('making the media …\n');
  await makeSampleFilm(draft, { heights: [720] });
  await makeOtherContainers(join(draft, 'film-720.mp4'));
  await makeLongFilm(draft, largeBytes);
  await makeLongSound(draft, 600);
  await rename(draft, folder);
  return folder;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
