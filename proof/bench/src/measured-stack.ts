import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SampleSite } from '@media-services/fault-site';
import { startHealthyStack } from '@media-services/stack';
import { logsDir } from '@media-services/stack/set-up';

/** Both services behind the gateway, unchanged except for limits that a benchmark would hit. */
export interface MeasuredStack extends AsyncDisposable {
  readonly gatewayUrl: string;
  readonly videoDlUrl: string;
  /** Resident memory of video-dl's Node process in bytes (Linux). */
  videoDlMemory(): Promise<number>;
}

/** @param site what video-dl may read although it is not public */
export async function startMeasuredStack(site: SampleSite): Promise<MeasuredStack> {
  const stack = await startHealthyStack({
    env: {
      ...process.env,
      ALLOWED_PRIVATE_SOURCES: site.host,
      ENGINE_PROCESSES: '1',
      SHUTDOWN_GRACE_SECONDS: '0',
      STREAMS_MAX: '64',
      VIDEO_REQUESTS_PER_MINUTE: '0',
      STREAMS_PER_CLIENT: '64',
    },
    // The benchmarks measure the services directly too.
    gatewaySecret: '',
    logsDir: join(logsDir, 'bench'),
  });
  return {
    gatewayUrl: stack.url,
    videoDlUrl: stack.urlOf('video-dl'),
    videoDlMemory: async () => {
      const status = await readFile(`/proc/${stack.pidOf('video-dl')}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024;
    },
    [Symbol.asyncDispose]: () => stack.stop(),
  };
}

type Target = 'mp3' | 'mp4-720' | 'mp4-1080';

/** @param base of the service or of the gateway */
export function streamUrl(base: string, page: string, target: Target): string {
  const url = encodeURIComponent(page);
  return target === 'mp3'
    ? `${base}/api/stream?url=${url}`
    : `${base}/api/stream/video?url=${url}&fmt=${target}`;
}

export function infoUrl(base: string, page: string): string {
  return `${base}/api/info?url=${encodeURIComponent(page)}`;
}
