import { egressErrors } from '@media-services/egress-guard';
import { sharedErrors, type ErrorDefinition, type ErrorTable } from '@media-services/http-common';

/** Errors specific to bg-removal. */
const ownErrors = {
  missing_file: {
    status: 400,
    title: 'No image was sent',
    retryable: false,
    cause: 'The body has neither an image in the multipart field `file` nor an `image_url`.',
    remedy: 'Send the image as multipart/form-data in the field `file`.',
  },
  file_too_large: {
    status: 413,
    title: 'The file is too large',
    retryable: false,
    cause: 'The upload, or the image at `image_url`, has more bytes than IMAGE_MAX_BYTES.',
    remedy: 'Send a smaller file. If you run this server: raise IMAGE_MAX_BYTES.',
  },
  image_too_large: {
    status: 413,
    title: 'The image is too large',
    retryable: false,
    cause:
      'Width times height is above IMAGE_MAX_PIXELS, a side is above 65535 pixels, or the image needs more memory than the container has for one.',
    remedy: 'Scale the image down. If you run this server: raise IMAGE_MAX_PIXELS.',
  },
  image_not_found: {
    status: 404,
    title: 'No image at this URL',
    retryable: false,
    cause: 'The site of `image_url` rejects the request: the image is gone, or not public.',
    remedy: 'Open the URL in a private browser window and correct it.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Not a supported image type',
    retryable: false,
    cause: 'The content is not JPEG, PNG or WebP, or the body is neither a form nor an image.',
    remedy: 'Convert the image to JPEG, PNG or WebP.',
  },
  unreadable_image: {
    status: 422,
    title: 'The image cannot be read',
    retryable: false,
    cause: 'The file is damaged, incomplete, or has more scans than a JPEG needs.',
    remedy: 'Open the image, save it again and send the whole file.',
  },
  no_foreground: {
    status: 422,
    title: 'No subject found',
    retryable: false,
    cause: 'The model found nothing that stands out from the background.',
    remedy: 'Use an image with a clear subject, or crop it closer to the subject.',
  },
} as const satisfies Record<string, ErrorDefinition>;

declare module '@media-services/http-common' {
  interface ErrorTable extends Record<keyof typeof ownErrors, ErrorDefinition> {}
}

/** Every error code of this service. */
export const errorTable: ErrorTable = { ...sharedErrors, ...egressErrors, ...ownErrors };
