import { distance } from 'fastest-levenshtein';

/** Settings of earlier versions, with what to do instead. */
const removed: Readonly<Record<string, string>> = {
  ENGINE_RECYCLE_AFTER_JOBS: 'Delete it: engines restart after 500 pages.',
  EXTRACTION_CACHE_ENTRIES: 'Delete it: the cache holds 200 pages, at most 64 MiB.',
  PROBE_TIMEOUT_SECONDS: 'Delete it: a third of EXTRACTION_TIMEOUT_SECONDS is used.',
  RECYCLE_ABOVE_BYTES: 'Delete it: an inference process above 2 GiB is replaced when it is idle.',
  RECYCLE_AFTER_IMAGES: 'Delete it: inference processes are replaced by their memory.',
  YTDLP_UPDATE_DIR: 'Delete it: YTDLP_UPDATE_EVERY uses a temporary folder.',
  YTDLP_UPDATE_ON_START: 'Set YTDLP_UPDATE_EVERY=24h instead: it also updates at the start.',
};

const minLookalikeLength = 8;
const maxTypos = 2;
/** `IMAGES_PER_MIN`; more would be another service's setting. */
const maxCutOff = 4;

/** What is wrong with the names of the variables: settings that are gone, and names that look like a setting. */
export function unknownSettings(
  known: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const given = Object.keys(env).filter((name) => env[name]?.trim() && !known.includes(name));
  return given.flatMap((name) => {
    const advice = removed[name];
    if (advice !== undefined) return [`${name} is no longer a setting. ${advice}`];
    const meant = known.find((each) => looksLike(name, each));
    return meant === undefined ? [] : [`${name} is not a setting and does nothing. Did you mean ${meant}?`];
  });
}

function looksLike(name: string, setting: string): boolean {
  if (Math.min(name.length, setting.length) < minLookalikeLength) return false;
  const isCut = setting.startsWith(name) && setting.length - name.length <= maxCutOff;
  return isCut || name.startsWith(`${setting}_`) || distance(name, setting) <= maxTypos;
}
