import { egressErrors } from '@media-services/egress-guard';
import { sharedErrors, type ErrorDefinition, type ErrorTable } from '@media-services/http-common';

/** Errors specific to video-dl. */
const ownErrors = {
  private_video: {
    status: 403,
    title: 'The video is private',
    retryable: false,
    cause: 'Its owner has not made it public.',
    remedy: 'Ask the owner for a public link.',
  },
  login_required: {
    status: 403,
    title: 'Login required',
    retryable: false,
    cause: 'The site shows this video only to its registered users.',
    remedy: 'Use a public video. If you run this server: COOKIES_FILE can provide a session of the site.',
  },
  age_restricted: {
    status: 403,
    title: 'Age-restricted video',
    retryable: false,
    cause: 'The site asks for a confirmed age.',
    remedy:
      'Use another video. If you run this server: COOKIES_FILE can provide a session with a confirmed age.',
  },
  video_not_found: {
    status: 404,
    title: 'Video not found',
    retryable: false,
    cause: 'The page or its video does not exist or was removed.',
    remedy: 'Open the URL in a browser and check that the video plays.',
  },
  precondition_failed: {
    status: 412,
    title: 'Condition not met',
    retryable: false,
    cause: 'The current file does not meet the `If-Match` header of the request.',
    remedy: 'Send the request without that header.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'Nothing at this range',
    retryable: false,
    cause:
      'The range begins at or after the end of the file. A client that resumes there already has all of it.',
    remedy: 'Compare the size of your file with the Content-Range header of this response.',
  },
  not_started: {
    status: 409,
    title: 'The video has not started yet',
    retryable: true,
    cause: 'It is a premiere or a live event in the future.',
    remedy: 'Try again after it has been published.',
  },
  live_not_supported: {
    status: 422,
    title: 'Live streams are not supported',
    retryable: false,
    cause: 'The video is live, or its recording is not finished.',
    remedy: 'Try again when the recording is available.',
  },
  playlist_not_supported: {
    status: 422,
    title: 'Playlists are not supported',
    retryable: false,
    cause: 'The URL leads to a playlist, a channel or a search, not to one video.',
    remedy: 'Send the URL of a single video.',
  },
  unsupported_url: {
    status: 422,
    title: 'The page is not supported',
    retryable: false,
    cause:
      "The download engine can't find a video on this page, or the page exceeds a limit of this service.",
    remedy: 'Send the URL of the page that plays the video. If you run this server: update yt-dlp.',
  },
  no_media: {
    status: 422,
    title: 'Nothing to download',
    retryable: false,
    cause: 'The page has no media of the requested kind, or its file is damaged.',
    remedy: 'Check that the page plays in a browser; `/api/info` lists what it offers.',
  },
  drm_protected: {
    status: 422,
    title: 'Protected video',
    retryable: false,
    cause: 'The video is protected by DRM.',
    remedy: "It can't be downloaded. Use another source.",
  },
  too_long: {
    status: 422,
    title: 'The video is too long',
    retryable: false,
    cause: "Its duration or size exceeds this service's limit.",
    remedy:
      'Use a shorter video, or a part of it (`start`, `end`). If you run this server: raise VIDEO_MAX_SECONDS or STREAM_MAX_BYTES.',
  },
  geo_blocked: {
    status: 451,
    title: 'Not available in this region',
    retryable: false,
    cause: 'The site blocks the region that this service runs in.',
    remedy: 'Use another source. If you run this server: OUTBOUND_PROXY can use another region.',
  },
  upstream_rate_limited: {
    status: 503,
    title: 'The site limits this service',
    retryable: true,
    cause: 'The site has received too many requests from this service.',
    remedy: 'Try again in a few minutes, after the seconds in `Retry-After`.',
  },
  bot_check: {
    status: 503,
    title: 'The site asks for proof of a human',
    retryable: true,
    cause: 'The site suspects automated access from the IP of this service.',
    remedy: 'Try again later. If you run this server: set COOKIES_FILE or OUTBOUND_PROXY.',
  },
} as const satisfies Record<string, ErrorDefinition>;

declare module '@media-services/http-common' {
  interface ErrorTable extends Record<keyof typeof ownErrors, ErrorDefinition> {}
}

/** Every error code of this service. */
export const errorTable: ErrorTable = { ...sharedErrors, ...egressErrors, ...ownErrors };
