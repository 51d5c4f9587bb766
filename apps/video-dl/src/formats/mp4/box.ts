/** The bytes aren't valid MP4. */
export class Mp4FormatError extends Error {
  override name = 'Mp4FormatError';
}

/** Node's errors for reading past the end of a damaged box. */
const damageCodes = ['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'];

/** Whether damaged input caused the error, rather than a bug. */
export function isDamage(error: unknown): boolean {
  if (error instanceof Mp4FormatError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && damageCodes.includes(code);
}

export interface BoxHeader {
  type: string;
  /** Includes the header; Infinity for a box that extends to the end of the file. */
  size: number;
  headerSize: number;
}

/**
 * Parses the box header (ISO 14496-12, 4.2) at `offset`; undefined while it is incomplete.
 */
export function readBoxHeader(bytes: Buffer, offset = 0): BoxHeader | undefined {
  if (bytes.length - offset < 8) return undefined;
  const size32 = bytes.readUInt32BE(offset);
  const type = bytes.toString('latin1', offset + 4, offset + 8);
  if (size32 === 0) return { type, size: Infinity, headerSize: 8 };
  if (size32 !== 1) return checked({ type, size: size32, headerSize: 8 });
  if (bytes.length - offset < 16) return undefined;
  const size = bytes.readBigUInt64BE(offset + 8);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new Mp4FormatError(`box ${type} has an impossible size`);
  return checked({ type, size: Number(size), headerSize: 16 });
}

function checked(header: BoxHeader): BoxHeader {
  if (header.size < header.headerSize)
    throw new Mp4FormatError(`box ${header.type} is smaller than its header`);
  return header;
}

/** A box inside another, whose header has 8 bytes. */
export interface Box {
  type: string;
  /** The whole box, a view into its parent. */
  bytes: Buffer;
}

/** No valid file needs more children: each table of an MP4 is a single box. */
const maxChildBoxes = 1024;
/** Of a box with few children of each type. Movies between segments are read in the main process, which must be quick. */
const maxNamedBoxes = 64;

/**
 * The child boxes of `parent` after `skip` bytes (its header, plus the version and flags of a full box).
 * QuickTime ends its lists with four zero bytes, and some writers pad them.
 */
export function childBoxes(parent: Buffer, skip = 8, maxBoxes = maxChildBoxes): Box[] {
  const children: Box[] = [];
  let offset = skip;
  while (parent.length - offset >= 8 && parent.readUInt32BE(offset) !== 0) {
    const header = readBoxHeader(parent, offset);
    const end = header === undefined ? Infinity : offset + header.size;
    if (header === undefined || end > parent.length)
      throw new Mp4FormatError('a box extends past the end of its parent');
    if (header.headerSize > 8) throw new Mp4FormatError('a box inside another needs no 64-bit size');
    if (children.length >= maxBoxes) throw new Mp4FormatError('a box has too many children');
    children.push({ type: header.type, bytes: parent.subarray(offset, end) });
    offset = end;
  }
  return children;
}

/** The first box at this path below `parent`. */
export function findBox(parent: Box, ...path: readonly string[]): Box | undefined {
  let box: Box | undefined = parent;
  for (const type of path)
    box = box && childBoxes(box.bytes, 8, maxNamedBoxes).find((child) => child.type === type);
  return box;
}

/** The first box at this path below `parent`. @throws Mp4FormatError if it is missing */
export function requiredBox(parent: Box, ...path: readonly string[]): Box {
  const box = findBox(parent, ...path);
  if (box === undefined) throw new Mp4FormatError(`the required ${path.at(-1) ?? ''} box is missing`);
  return box;
}

/** Whether the fields of a full box are those of version 1, mostly of 64 bits. */
export function isLong({ bytes }: Pick<Box, 'bytes'>): boolean {
  return bytes.readUInt8(8) === 1;
}

export function makeBox(type: string, parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(size), Buffer.from(type, 'latin1'), ...parts], size);
}

export function fullBox(type: string, version: number, flags: number, parts: readonly Buffer[]): Buffer {
  return makeBox(type, [uint32(version * 0x100_0000 + flags), ...parts]);
}

/** The same box with other children. @param change returns the boxes to write instead of a child */
export function withChildren(box: Buffer, change: (child: Box) => readonly Buffer[]): Buffer {
  return makeBox(box.toString('latin1', 4, 8), childBoxes(box).flatMap(change));
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
