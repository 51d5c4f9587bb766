/** A format selection in yt-dlp's syntax. */
export interface FormatSelector {
  readonly format: string;
  readonly sort: readonly string[];
}

/** Per MP4 that a client can request: the limit for the shorter side of its video, in pixels. From the smallest. */
export const mp4ShortSides = { 'mp4-720': 720, 'mp4-1080': 1080 } as const;
export type Mp4Target = keyof typeof mp4ShortSides;
export const mp4Targets = Object.keys(mp4ShortSides) as Mp4Target[];

/** `original` is the best audio without re-encoding. */
export const audioTargets = ['mp3', 'original'] as const;

/** What a client can request. */
export type Target = (typeof audioTargets)[number] | Mp4Target;
export const targets: readonly Target[] = [...audioTargets, ...mp4Targets];
/** The targets in `downloads` of `/api/info`. */
export const downloadTargets = ['mp3', ...mp4Targets] as const;

export function isMp4Target(target: Target): target is Mp4Target {
  return target in mp4ShortSides;
}

/** The next smaller MP4, or undefined for the smallest. */
export function smallerTarget(target: Target): Mp4Target | undefined {
  return isMp4Target(target) ? mp4Targets[mp4Targets.indexOf(target) - 1] : undefined;
}

export function perTarget<Value>(valueFor: (target: Target) => Value): Record<Target, Value> {
  return Object.fromEntries(targets.map((target) => [target, valueFor(target)])) as Record<Target, Value>;
}

/**
 * Arguments for yt-dlp's format selector. `res` is the smaller side, so portrait video counts
 * like landscape. A sort only prefers; a filter (`[height<=720]`) would leave nothing
 * on a page that offers only larger sizes.
 */
export const formatSelectors = perTarget((target): FormatSelector => {
  switch (target) {
    // An MP3 is sent unchanged. Without audio-only formats a small video will do, since only its audio is used.
    case 'mp3':
      return {
        format: 'ba[acodec^=mp3]/ba/b',
        sort: ['res:480', 'lang', 'quality', 'acodec:aac', 'proto', 'abr'],
      };
    case 'original':
      return {
        format: 'ba/b',
        sort: ['res:480', 'lang', 'quality', 'channels', 'acodec', 'abr', 'proto'],
      };
    // Prefers the original to a dub, plain audio to a described or compressed mix, and what MP4 supports to the rest.
    default:
      return {
        format: 'bv*+ba/b',
        sort: [`res:${mp4ShortSides[target]}`, 'vcodec:h264', 'lang', 'quality', 'acodec:aac'],
      };
  }
});
