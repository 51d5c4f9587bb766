/** Follows the structure of a file whose bytes pass, in constant memory and linear time. */
export interface StructureCheck {
  /** Bytes that the file says it has; undefined where it says nothing. */
  readonly statedBytes?: number | undefined;
  /** Takes the next bytes. @throws DamagedMediaError where they cannot belong into such a file */
  push(bytes: Buffer): void;
  /** Whether so many bytes may be left out, because they are of no concern here. */
  canSkip(bytes: number): boolean;
  /** Leaves them out. */
  skip(bytes: number): void;
}

/** Bytes that are none of the medium stand in the midst of it. The message says where. */
export class DamagedMediaError extends Error {
  override name = 'DamagedMediaError';
}
