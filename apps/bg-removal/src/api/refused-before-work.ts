import { DomainError, type ErrorCode } from '@media-services/http-common';

const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'missing_file',
  'file_too_large',
  'image_too_large',
  'unsupported_media_type',
  'unreadable_image',
  'overloaded',
  'rate_limited',
]);

/** Whether an image was refused before the network saw it, so that it does not count towards the client's images. */
export function isRefusedBeforeWork(thrown: unknown): boolean {
  return thrown instanceof DomainError && codes.has(thrown.code);
}
