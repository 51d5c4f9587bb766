import type { Response } from 'express';
import type { ErrorCode } from '../errors/error-table.js';

const codes = new WeakMap<Response, ErrorCode>();

/** Remembers the error code of an answer for the log and the metrics. */
export function setProblemCode(res: Response, code: ErrorCode): void {
  codes.set(res, code);
}

export function problemCodeOf(res: Response): ErrorCode | undefined {
  return codes.get(res);
}
