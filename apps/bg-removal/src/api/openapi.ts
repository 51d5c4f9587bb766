import { createOpenApiDocument, packageVersion, type JsonObject } from '@media-services/http-common';
import { errorTable } from '../errors.js';
import { acceptedTypes } from '../images/image-type.js';
import { parametersSchema } from './parameters.js';
import { fileField } from './upload.js';

const size = { type: 'integer', minimum: 1 };

/** The OpenAPI 3.1 document of bg-removal, from the schemas that validate its requests. */
export function openApiDocument(): JsonObject {
  return createOpenApiDocument({
    service: 'bg-removal',
    errors: errorTable,
    title: 'bg-removal',
    version: packageVersion(new URL('../../package.json', import.meta.url)),
    description:
      'An image in; the same image with a transparent background out. Through the gateway the endpoint is also at `/api/remove-background` without the name of the service.',
    operations: [
      {
        path: '/api/remove-background',
        method: 'post',
        operationId: 'removeBackground',
        summary: 'Cut the subject out of an image',
        description:
          'At most 5 images in any 60 seconds per client IP, unless the operator has set another number. The `RateLimit` headers say how many are left. An upload that is rejected before it is decoded (type, size, parameters, header) does not count; an `image_url` counts as soon as it is fetched.',
        form: {
          fields: parametersSchema,
          file: {
            name: fileField,
            description: `The image: ${acceptedTypes}, decided by its content.`,
            orField: 'image_url',
          },
        },
        success: {
          description:
            'The cut-out, in the size of the upright image. Always 8-bit sRGB: uploads with 16 bits or a wider gamut are converted. Without EXIF.',
          mediaType: 'image/png',
          headers: {
            'Content-Disposition': {
              description: "The upload's name with the result's extension (RFC 6266).",
              schema: { type: 'string' },
            },
            'X-Width': { description: 'Pixels of the result.', schema: size },
            'X-Height': { description: 'Pixels of the result.', schema: size },
            ...Object.fromEntries(
              (['Left', 'Top', 'Width', 'Height'] as const).map((edge) => [
                `X-Foreground-${edge}`,
                {
                  description: 'Where the subject is, in pixels of the upright upload.',
                  schema: { type: 'integer', minimum: edge === 'Left' || edge === 'Top' ? 0 : 1 },
                },
              ]),
            ),
            RateLimit: {
              description:
                'Images left (`r`) and seconds until the next one is free (`t`): draft-ietf-httpapi-ratelimit-headers-08.',
              schema: { type: 'string' },
            },
            'RateLimit-Policy': {
              description: 'Images (`q`) per window of so many seconds (`w`).',
              schema: { type: 'string' },
            },
          },
        },
      },
    ],
  });
}
