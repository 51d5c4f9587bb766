import type { ApiDescription, HeaderDescriptions } from '@media-services/http-common';
import { errorTable } from '../errors.js';
import { acceptedTypes } from '../images/image-type.js';
import { formats } from '../images/output.js';
import { parametersSchema } from './parameters.js';
import { fileField } from './upload.js';

const size = { type: 'integer', minimum: 1 };

const rateLimitHeaders: HeaderDescriptions = {
  RateLimit: {
    description:
      'Images left (`r`) and seconds until the next one is free (`t`): draft-ietf-httpapi-ratelimit-headers-08.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Images (`q`) per window (`w`, in seconds).',
    schema: { type: 'string' },
  },
};

/** The API of bg-removal, from the schemas that validate its requests. */
export const api: ApiDescription = {
  tag: { name: 'Images', description: 'Removes the background of an image at full size (bg-removal).' },
  errors: errorTable,
  operations: [
    {
      path: '/api/remove-background',
      method: 'post',
      operationId: 'removeBackground',
      summary: 'Remove the background of an image',
      description:
        'Send either `file` or, if the operator allows it, `image_url`. Instead of a form, the body can be the image itself (`Content-Type: image/jpeg` or the like, or `application/octet-stream`), with the fields as query parameters. An empty field counts as not given; words are accepted in any case, `1` and `on` as `true`, `0` and `off` as `false`, `jpeg` as `jpg`. At most 5 images in any 60 seconds per client IP, unless the operator has set another limit. The `RateLimit` headers say how many are left. An upload that is rejected before it is decoded (type, size, parameters, header) does not count; an `image_url` counts as soon as it is fetched.',
      form: {
        fields: parametersSchema,
        file: {
          name: fileField,
          description: `The image: ${acceptedTypes}, decided by its content.`,
        },
      },
      success: {
        description:
          'The cut-out in the requested `format`, as large as the upright image unless it is cropped or scaled down. Always 8-bit sRGB: uploads with 16 bits or a wider gamut are converted. Contains no EXIF data.',
        mediaType: Object.values(formats).map(({ mediaType }) => mediaType),
        headers: {
          'Content-Disposition': {
            description: "The upload's name with the result's extension (RFC 6266).",
            schema: { type: 'string' },
          },
          'X-Width': { description: 'Size of the result in pixels.', schema: size },
          'X-Height': { description: 'Size of the result in pixels.', schema: size },
          ...Object.fromEntries(
            (['Left', 'Top', 'Width', 'Height'] as const).map((edge) => [
              `X-Foreground-${edge}`,
              {
                description: 'Position of the subject in pixels of the upright upload.',
                schema: { type: 'integer', minimum: edge === 'Left' || edge === 'Top' ? 0 : 1 },
              },
            ]),
          ),
          ...rateLimitHeaders,
        },
      },
      rateLimitHeaders,
    },
  ],
};
