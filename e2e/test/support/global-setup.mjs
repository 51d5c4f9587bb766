import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSampleFilm } from '../../../scripts/lib/demo/sample-media.mjs';
import { drawSamplePicture } from '../../../scripts/lib/demo/sample-picture.mjs';
import { logsDir } from '../../../scripts/lib/project.mjs';
import { freePort } from '../../../scripts/lib/stack/ports.mjs';
import { startStack } from '../../../scripts/lib/stack/stack.mjs';
import { startPages } from './pages.mjs';

/** The whole stack, as `npm start` runs it, with a site of our own as the internet. */
export default async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'media-services-e2e-'));
  const release = [() => rmSync(folder, { recursive: true, force: true })];
  // Read by the teardown, which runs in this process.
  globalThis.releaseStack = async () => {
    for (const each of release) await each();
  };
  try {
    await makeSampleFilm(folder);
    const picture = await drawSamplePicture();
    writeFileSync(join(folder, 'photo.jpg'), picture.jpeg);
    const site = await startPages(folder);
    release.unshift(() => site.close());
    const stack = await startStack({
      port: await freePort(),
      freeServicePorts: true,
      env: {
        ...process.env,
        ALLOWED_PRIVATE_SOURCES: site.hosts.join(','),
        IMAGES_PER_MINUTE: '5',
      },
      logsDir: join(logsDir, 'e2e'),
    });
    release.unshift(() => stack.stop());
    await stack.healthy();
    Object.assign(process.env, {
      E2E_GATEWAY: stack.url,
      E2E_FILMS: site.films,
      E2E_PAGES: site.pages,
      E2E_FOLDER: folder,
      E2E_VIDEO_DL_METRICS: `http://127.0.0.1:${stack.ports.videoDlMetrics}/metrics`,
      E2E_BG_REMOVAL_METRICS: `http://127.0.0.1:${stack.ports.bgRemovalMetrics}/metrics`,
    });
  } catch (error) {
    await globalThis.releaseStack();
    throw error;
  }
}
