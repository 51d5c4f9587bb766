import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawSamplePicture, makeSampleFilm, startSampleSite } from '@media-services/fault-site';
import { startStack } from '@media-services/stack';
import { logsDir } from '@media-services/stack/set-up';
import { gatewaySecret } from './gateway-secret.ts';

/** Where tests may start sites, on any port, that the stack reads. */
const ownSiteAddress = '127.0.0.3';

/**
 * Starts the whole stack like `npm start`, with the sample site as the internet.
 * @returns a function that stops it
 */
export default async function setUp(): Promise<() => Promise<void>> {
  const releases: (() => unknown)[] = [];
  const releaseLater = (release: () => unknown) => releases.unshift(release);
  const releaseAll = async (): Promise<void> => {
    for (const release of releases.splice(0)) await release();
  };
  const folder = mkdtempSync(join(tmpdir(), 'media-services-e2e-'));
  releaseLater(() => rmSync(folder, { recursive: true, force: true }));
  try {
    await makeSampleFilm(folder);
    const picture = await drawSamplePicture();
    writeFileSync(join(folder, 'photo.jpg'), picture.jpeg);
    const site = await startSampleSite(folder);
    releaseLater(() => site[Symbol.asyncDispose]());
    const stack = await startStack({
      gatewaySecret,
      env: {
        ...process.env,
        ALLOWED_PRIVATE_SOURCES: `${site.host},${ownSiteAddress}/32`,
        IMAGES_PER_MINUTE: '5',
        IMAGE_URLS: 'true',
      },
      logsDir: join(logsDir, 'e2e'),
    });
    releaseLater(() => stack.stop());
    await stack.healthy();
    Object.assign(process.env, {
      E2E_GATEWAY: stack.url,
      E2E_SITE: site.url(''),
      E2E_VIDEO_DL: new URL(stack.urlOf('video-dl')).host,
      E2E_BG_REMOVAL: new URL(stack.urlOf('bg-removal')).host,
      E2E_FOLDER: folder,
      E2E_LOGS: stack.logsDir,
      E2E_VIDEO_DL_PID: String(stack.pidOf('video-dl')),
      E2E_OWN_SITE_ADDRESS: ownSiteAddress,
      E2E_VIDEO_DL_METRICS: stack.metricsUrls['video-dl'],
      E2E_BG_REMOVAL_METRICS: stack.metricsUrls['bg-removal'],
    });
    return releaseAll;
  } catch (error) {
    await releaseAll();
    throw error;
  }
}
