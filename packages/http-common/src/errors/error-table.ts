/** The services that share this table. */
export type ServiceName = 'video-dl' | 'bg-removal';

/** What a code means to the client and what its documentation says. */
export interface ErrorDefinition {
  readonly status: number;
  readonly title: string;
  /** True when the very same request may succeed later. */
  readonly retryable: boolean;
  readonly cause: string;
  readonly remedy: string;
  readonly services: readonly ServiceName[];
}

const both = ['video-dl', 'bg-removal'] as const;
const videoDl = ['video-dl'] as const;
const bgRemoval = ['bg-removal'] as const;

/** Every error code of both services: the one source for answers and documentation. */
export const errorTable = {
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    retryable: false,
    cause: 'A parameter is missing, unknown, repeated, malformed or out of range.',
    remedy: 'Correct every field that `errors` names.',
    services: both,
  },
  not_found: {
    status: 404,
    title: 'No such endpoint',
    retryable: false,
    cause: 'The path is not one of the service.',
    remedy: 'Check the path against the API documentation.',
    services: both,
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    retryable: false,
    cause: 'The endpoint exists but does not answer this method.',
    remedy: 'Use a method that the `Allow` header names.',
    services: both,
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    retryable: true,
    cause: 'This client address has used up its requests for now.',
    remedy: 'Wait as many seconds as `Retry-After` says.',
    services: both,
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    retryable: true,
    cause: 'As much work is running and queued as the service is configured to take.',
    remedy: 'Wait as many seconds as `Retry-After` says; as the operator, add replicas or raise the limits.',
    services: both,
  },
  engine_unavailable: {
    status: 503,
    title: 'The engine is not available',
    retryable: true,
    cause: 'The engine is starting, has just crashed or is shutting down.',
    remedy:
      'Wait as many seconds as `Retry-After` says; as the operator, look at the health endpoint and the log.',
    services: both,
  },
  timeout: {
    status: 504,
    title: 'The work took too long',
    retryable: true,
    cause: 'The deadline of the service passed before the work was done.',
    remedy: 'Try again later or with smaller input.',
    services: both,
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    retryable: false,
    cause: 'Something failed that should not have.',
    remedy: 'Report it with the `requestId`; the log of the service has the cause under that id.',
    services: both,
  },
  invalid_url: {
    status: 400,
    title: 'Invalid address',
    retryable: false,
    cause: 'The address is not an http or https URL of at most 2048 characters without credentials.',
    remedy: 'Send the full public address of the page, URL-encoded.',
    services: videoDl,
  },
  forbidden_address: {
    status: 403,
    title: 'Address not allowed',
    retryable: false,
    cause: 'The address, or one it leads to, is not on the public internet.',
    remedy: 'Use a public address; as the operator, permit an intranet source with ALLOWED_PRIVATE_SOURCES.',
    services: videoDl,
  },
  private_video: {
    status: 403,
    title: 'The video is private',
    retryable: false,
    cause: 'Its owner has not made it public.',
    remedy: 'Ask the owner for a public link.',
    services: videoDl,
  },
  login_required: {
    status: 403,
    title: 'Login required',
    retryable: false,
    cause: 'The site shows this video only to its registered users.',
    remedy: 'Use a public video; as the operator, COOKIES_FILE can hold a session of the site.',
    services: videoDl,
  },
  age_restricted: {
    status: 403,
    title: 'Age-restricted video',
    retryable: false,
    cause: 'The site asks for a confirmed age.',
    remedy: 'Use another video; as the operator, COOKIES_FILE can hold a session with a confirmed age.',
    services: videoDl,
  },
  video_not_found: {
    status: 404,
    title: 'Video not found',
    retryable: false,
    cause: 'The page or its video does not exist or was removed.',
    remedy: 'Open the address in a browser and check that the video plays.',
    services: videoDl,
  },
  not_started: {
    status: 409,
    title: 'The video has not started yet',
    retryable: true,
    cause: 'It is a premiere or a live event in the future.',
    remedy: 'Try again after it has been published.',
    services: videoDl,
  },
  live_not_supported: {
    status: 422,
    title: 'Live streams are not supported',
    retryable: false,
    cause: 'The video is live, or its recording is not finished.',
    remedy: 'Try again when the recording is available.',
    services: videoDl,
  },
  playlist_not_supported: {
    status: 422,
    title: 'Playlists are not supported',
    retryable: false,
    cause: 'The address leads to a playlist, a channel or a search, not to one video.',
    remedy: 'Send the address of a single video.',
    services: videoDl,
  },
  unsupported_url: {
    status: 422,
    title: 'The page is not supported',
    retryable: false,
    cause: 'The download engine knows no way to find a video on this page.',
    remedy: 'Send the address of the page that plays the video; as the operator, update yt-dlp.',
    services: videoDl,
  },
  no_media: {
    status: 422,
    title: 'Nothing to download',
    retryable: false,
    cause: 'The page has no media of the requested kind.',
    remedy: '`/api/info` lists what the page offers.',
    services: videoDl,
  },
  drm_protected: {
    status: 422,
    title: 'Protected video',
    retryable: false,
    cause: 'The video is protected by DRM.',
    remedy: 'It cannot be downloaded; use another source.',
    services: videoDl,
  },
  too_long: {
    status: 422,
    title: 'The video is too long',
    retryable: false,
    cause: 'Its duration or size is above the limit of this service.',
    remedy: 'Use a shorter video; as the operator, raise MAX_DURATION_SECONDS or MAX_OUTPUT_BYTES.',
    services: videoDl,
  },
  geo_blocked: {
    status: 451,
    title: 'Not available in this region',
    retryable: false,
    cause: 'The site refuses the region that the service runs in.',
    remedy: 'Use another source; as the operator, OUTBOUND_PROXY can lead out through another region.',
    services: videoDl,
  },
  upstream_unreachable: {
    status: 502,
    title: 'The site cannot be reached',
    retryable: true,
    cause: 'Its name does not resolve, or its server refuses or drops the connection.',
    remedy: 'Check the address; try again later.',
    services: videoDl,
  },
  upstream_error: {
    status: 502,
    title: 'The site answered with an error',
    retryable: true,
    cause: 'The site failed, or sent something that is not what it announced.',
    remedy: 'Try again later; as the operator, update yt-dlp if it persists.',
    services: videoDl,
  },
  upstream_rate_limited: {
    status: 503,
    title: 'The site limits this service',
    retryable: true,
    cause: 'The site has received too many requests from this service.',
    remedy: 'Wait as many seconds as `Retry-After` says.',
    services: videoDl,
  },
  bot_check: {
    status: 503,
    title: 'The site asks for proof of a human',
    retryable: true,
    cause: 'The site suspects automated access from the address of this service.',
    remedy: 'Try again later; as the operator, set COOKIES_FILE or OUTBOUND_PROXY.',
    services: videoDl,
  },
  upstream_timeout: {
    status: 504,
    title: 'The site is too slow',
    retryable: true,
    cause: 'The site did not answer before the deadline.',
    remedy: 'Try again later.',
    services: videoDl,
  },
  missing_file: {
    status: 400,
    title: 'No image was sent',
    retryable: false,
    cause: 'The body has no multipart field `file` with an image in it.',
    remedy: 'Send the image as multipart/form-data in the field `file`.',
    services: bgRemoval,
  },
  file_too_large: {
    status: 413,
    title: 'The file is too large',
    retryable: false,
    cause: 'The upload has more bytes than MAX_FILE_BYTES.',
    remedy: 'Send a smaller file; as the operator, raise MAX_FILE_BYTES.',
    services: bgRemoval,
  },
  image_too_large: {
    status: 413,
    title: 'The image has too many pixels',
    retryable: false,
    cause: 'Width times height is above MAX_PIXELS.',
    remedy: 'Scale the image down; as the operator, raise MAX_PIXELS.',
    services: bgRemoval,
  },
  unsupported_media_type: {
    status: 415,
    title: 'Not a supported image type',
    retryable: false,
    cause: 'The content is not JPEG, PNG or WebP, or the body is not multipart/form-data.',
    remedy: 'Convert the image to JPEG, PNG or WebP.',
    services: bgRemoval,
  },
  unreadable_image: {
    status: 422,
    title: 'The image cannot be read',
    retryable: false,
    cause: 'The file is damaged or cut off.',
    remedy: 'Open and save the image again, then send it whole.',
    services: bgRemoval,
  },
  no_foreground: {
    status: 422,
    title: 'No subject found',
    retryable: false,
    cause: 'The model found nothing that stands out from the background.',
    remedy: 'Use an image with a clear subject, or lower `threshold`.',
    services: bgRemoval,
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as ErrorCode[];
