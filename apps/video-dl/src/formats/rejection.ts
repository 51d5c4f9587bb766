export const rejectionCodes = [
  'upstream_error',
  'live_not_supported',
  'drm_protected',
  'no_media',
  'too_long',
] as const;
export type RejectionCode = (typeof rejectionCodes)[number];

/** A parser rejects its input. Becomes the client's error. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  readonly code: RejectionCode;

  constructor(code: RejectionCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** The site's manifest or playlist violates its format. */
export function invalid(what: string): Rejection {
  return new Rejection(
    'upstream_error',
    `The site's media server ${what}, so the video can't be assembled. Try again later.`,
  );
}

/** A manifest exceeds a limit, and would again. @param limit such as "10000 segments" */
export function overLimit(limit: string): Rejection {
  return new Rejection(
    'too_long',
    `The video's playlist or manifest has more than ${limit}, the most that this service reads. Use a shorter video, or another format or page.`,
  );
}

/** The media is corrupt. */
export function damaged(what: string): Rejection {
  return new Rejection('upstream_error', `The site's media is damaged: ${what}. Try again later.`);
}

/** The file arrived completely but is corrupt, so a retry would get the same bytes. */
export function damagedFile(what: string): Rejection {
  return new Rejection('no_media', `The site's file is damaged: ${what}. Check that it plays in a browser.`);
}

/** The media is intact, but its parts can't be joined into one file. */
export function notJoinable(what: string, remedy = 'Try another page or format.'): Rejection {
  return new Rejection(
    'no_media',
    `The video ${what}, so its parts can't be joined into one file. ${remedy}`,
  );
}

export function live(): Rejection {
  return new Rejection(
    'live_not_supported',
    'This is a live broadcast. Only finished videos are supported, so try again when it has ended.',
  );
}

export function protectedByDrm(): Rejection {
  return new Rejection(
    'drm_protected',
    "The video is protected (DRM or sample encryption) and can't be downloaded. Use another source.",
  );
}
