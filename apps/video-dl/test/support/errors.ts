import { DomainError, type ErrorCode } from '@media-services/http-common';

/** The error code of failing work. */
export function codeOf(work: () => unknown): ErrorCode {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
  throw new Error('it did not fail');
}
