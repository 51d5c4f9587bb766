import { distance } from 'fastest-levenshtein';

/** Earlier names of settings, which still work. */
const renamed: Readonly<Record<string, string>> = {
  ENGINE_MAX_MEMORY_BYTES: 'ENGINE_MEMORY_MAX_BYTES',
  ENGINE_POOL_SIZE: 'ENGINE_PROCESSES',
  MAX_CONCURRENT_STREAMS: 'STREAMS_MAX',
  MAX_DURATION_SECONDS: 'VIDEO_MAX_SECONDS',
  MAX_FILE_BYTES: 'IMAGE_MAX_BYTES',
  MAX_OUTPUT_BYTES: 'STREAM_MAX_BYTES',
  MAX_PAGE_BYTES: 'PAGE_MAX_BYTES',
  MAX_PIXELS: 'IMAGE_MAX_PIXELS',
  MAX_QUEUE: 'IMAGE_QUEUE_MAX',
  MAX_QUEUED_STREAMS: 'STREAM_QUEUE_MAX',
  MIN_CLIENT_BYTES_PER_MINUTE: 'CLIENT_MIN_BYTES_PER_MINUTE',
  MIN_SOURCE_BYTES_PER_MINUTE: 'SOURCE_MIN_BYTES_PER_MINUTE',
  REQUEST_TIMEOUT_SECONDS: 'IMAGE_TIMEOUT_SECONDS',
  UPSTREAM_IDLE_TIMEOUT_SECONDS: 'SOURCE_IDLE_TIMEOUT_SECONDS',
};

/** Settings of earlier versions, with what to do instead. */
const removed: Readonly<Record<string, string>> = {
  ANSWER_TIMEOUT_SECONDS: 'Delete it: a response may take 300 s.',
  DOCS_BASE_URL: 'Delete it: links start with BASE_PATH.',
  ENGINE_RECYCLE_AFTER_JOBS: 'Delete it: engines restart after 500 pages.',
  EXTRACTION_CACHE_ENTRIES: 'Delete it: the cache holds 200 pages, at most 64 MiB.',
  FFMPEG_THREADS: 'Delete it: ffmpeg uses four threads per codec.',
  INFERENCE_THREADS: 'Set INFERENCE_PROCESSES instead: the processes share the cores.',
  MAX_QUEUED_EXTRACTIONS: 'Set STREAM_QUEUE_MAX instead: four times as many look-ups may wait.',
  MAX_STREAM_SECONDS: 'Set VIDEO_MAX_SECONDS instead: a stream may take a third longer.',
  MIN_BYTES_PER_SECOND: 'Set CLIENT_MIN_BYTES_PER_MINUTE to 60 times as much instead.',
  PROBE_TIMEOUT_SECONDS: 'Delete it: a third of EXTRACTION_TIMEOUT_SECONDS is used.',
  RECYCLE_ABOVE_BYTES: 'Delete it: an inference process above 2 GiB is replaced when it is idle.',
  RECYCLE_AFTER_IMAGES: 'Delete it: inference processes are replaced by their memory.',
  YTDLP_CHANNEL: 'Set YTDLP_UPDATES to stable or nightly instead.',
  YTDLP_UPDATE_DIR: 'Delete it: YTDLP_UPDATES uses a temporary folder.',
  YTDLP_UPDATE_EVERY: 'Set YTDLP_UPDATES=stable instead: it updates at start and every 24 hours.',
  YTDLP_UPDATE_ON_START: 'Set YTDLP_UPDATES=stable instead: it updates at start and every 24 hours.',
};

const minLookalikeLength = 8;
const maxTypos = 2;
/** `IMAGES_PER_MIN`; more would be another service's setting. */
const maxCutOff = 4;

/** The environment with the values of earlier names under the present ones, which win where both are set. */
export function withPresentNames(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const present = { ...env };
  for (const [earlier, name] of Object.entries(renamed)) {
    if (!env[name]?.trim()) present[name] = env[earlier];
  }
  return present;
}

/** What is wrong with the names of the variables: renamed or removed settings, and names that look like a setting. */
export function unknownSettings(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const given = Object.keys(env).filter((name) => env[name]?.trim() && !known.includes(name));
  return given.flatMap((name) => {
    const present = renamed[name];
    if (present !== undefined) return known.includes(present) ? [renamedNote(name, present, env)] : [];
    const advice = removed[name];
    if (advice !== undefined) return [`${name} is no longer a setting. ${advice}`];
    const meant = known.find((each) => looksLike(name, each));
    return meant === undefined ? [] : [`${name} is not a setting and does nothing. Did you mean ${meant}?`];
  });
}

function renamedNote(
  earlier: string,
  present: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const outcome = env[present]?.trim() ? 'Delete it: the new name is set too.' : 'It still works; rename it.';
  return `${earlier} is now called ${present}. ${outcome}`;
}

function looksLike(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < minLookalikeLength) return false;
  const isCut = setting.startsWith(name) && setting.length - name.length <= maxCutOff;
  return isCut || name.startsWith(`${setting}_`) || distance(name, setting) <= maxTypos;
}
