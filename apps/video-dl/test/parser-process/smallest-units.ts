import { makeBox } from '../../src/formats/mp4/box.js';

/** 32-bit numbers. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, 4 * index));
  return bytes;
}

const nothing: Buffer = Buffer.alloc(0);

/**
 * The header of a fragmented movie with audio tracks.
 * @param padding boxes to add to each container
 * @param entries the sample entries of each track
 */
export function movie(tracks = 1, padding = nothing, entries = nothing): Buffer {
  const full = (type: string, ...parts: Buffer[]) => makeBox(type, [words(0), ...parts]);
  const media = [
    padding,
    full('mdhd', words(0, 0, 1000, 0, 0)),
    full('hdlr', words(0), Buffer.from('soun'), Buffer.alloc(12)),
    makeBox('minf', [padding, makeBox('stbl', [padding, full('stsd', words(0), entries)])]),
  ];
  const header = full('tkhd', words(0, 0, 1, 0, 0), Buffer.alloc(60));
  return Buffer.concat([
    makeBox('ftyp', [Buffer.from('isom')]),
    makeBox('moov', [
      full('mvhd', words(0, 0, 1000, 0), Buffer.alloc(80)),
      ...Array.from({ length: tracks }, () => makeBox('trak', [padding, header, makeBox('mdia', media)])),
      makeBox('mvex', [full('trex', words(1, 1, 20, 0, 0))]),
    ]),
  ]);
}

/** @param duration in milliseconds */
export const movieHead = (duration = 0): Buffer =>
  makeBox('mvhd', [words(0, 0, 0, 1000, duration), Buffer.alloc(80)]);

interface Film {
  readonly samples?: number;
  /** Of each sample. */
  readonly bytes?: number;
  /** Of the chunks, which share the samples equally. */
  readonly offsets?: readonly number[];
  /** Entries without samples in the table of durations. */
  readonly emptyDurations?: number;
  readonly entry?: string;
  readonly handlers?: readonly string[];
  readonly isExternal?: boolean;
  readonly editRate?: number;
}

/** The boxes of a movie with sample tables and a sample each millisecond; by default with one video track of one sample without bytes. */
export function filmOf({
  samples = 1,
  bytes = 0,
  offsets = [0],
  emptyDurations = 0,
  entry = 'avc1',
  handlers = ['vide'],
  isExternal = false,
  editRate = 0x1_0000,
}: Film = {}): Buffer[] {
  const full = (type: string, ...parts: Buffer[]) => makeBox(type, [words(0), ...parts]);
  const durations = [Buffer.alloc(8 * emptyDurations), words(samples, 1)];
  const chunks = offsets.map((offset) => words(Math.floor(offset / 2 ** 32), offset));
  const tables = [
    full('stsd', words(1), makeBox(entry, [Buffer.alloc(78), makeBox('avcC', [Buffer.alloc(8)])])),
    full('stts', words(emptyDurations + 1), ...durations),
    full('stsz', words(bytes, samples), Buffer.alloc(bytes === 0 ? 4 * samples : 0)),
    full('stsc', words(1, 1, samples / offsets.length, 1)),
    full('co64', words(offsets.length), Buffer.concat(chunks)),
  ];
  const dinf = makeBox('dinf', [full('dref', words(1), makeBox('url ', [words(isExternal ? 0 : 1)]))]);
  const tracks = handlers.map((handler) =>
    makeBox('trak', [
      full('tkhd', words(0, 0, 1, 0, 0), Buffer.alloc(60)),
      makeBox('edts', [full('elst', words(1, 0, 0, editRate))]),
      makeBox('mdia', [
        full('mdhd', words(0, 0, 1000, samples, 0)),
        full('hdlr', words(0), Buffer.from(handler), Buffer.alloc(12)),
        makeBox('minf', [dinf, makeBox('stbl', tables)]),
      ]),
    ]),
  );
  return [movieHead(samples), ...tracks];
}

/** A fragment of the movie's track with its media. */
export function fragment(samples = 50): Buffer {
  const track = [
    makeBox('tfhd', [words(0x02_0000, 1)]),
    makeBox('tfdt', [words(0, 0)]),
    makeBox('trun', [words(0, samples)]),
  ];
  return Buffer.concat([makeBox('moof', [makeBox('traf', track)]), makeBox('mdat', [Buffer.alloc(1)])]);
}

export function emptyFragment(): Buffer {
  return Buffer.concat([makeBox('moof', []), makeBox('mdat', [])]);
}

/** An AAC frame with only a header. */
export function adts(): Buffer {
  return Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x00, 0xff, 0xfc]);
}

/** An Ogg page without content. */
export function checksummedPage(flags = 0): Buffer {
  const page = Buffer.alloc(27);
  page.write('OggS', 'latin1');
  page.writeUInt8(flags, 5);
  let checksum = 0;
  for (const byte of page) {
    checksum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1)
      checksum = checksum < 0 ? (checksum << 1) ^ 0x04c1_1db7 : checksum << 1;
  }
  page.writeUInt32LE(checksum >>> 0, 22);
  return page;
}

/** This many decode times, one frame apart, in ticks of 90 kHz. */
export function times(count: number): number[] {
  return Array.from({ length: count }, (_, index) => 90_000 + 3000 * index);
}

/** Packets of a transport stream (ISO 13818-1, 2.4.3.2). */
export const packet = {
  /** The first packet of a frame of video. @param units of its encoding, with their start codes */
  frame(units: readonly number[], pid = 256): Buffer {
    const bytes = packet.media(pid, 0);
    bytes[7] = 0xe0;
    bytes.set(units, 18);
    return bytes;
  },
  /** @param unit repeated to the end of the packet */
  restOfFrame(unit: readonly number[], pid = 256): Buffer {
    const bytes = start(pid, 0, 0x10);
    return bytes.fill(Buffer.from(unit), 4);
  },
  media(pid: number, time: number): Buffer {
    const bytes = start(pid, 0x4000, 0x10);
    bytes.writeUIntBE(1, 4, 3);
    bytes.set([0xc0, 0, 0, 0x80, 0x80, 5], 7);
    bytes[13] = 0x21 | (Math.floor(time / 2 ** 30) << 1);
    bytes.writeUInt16BE((Math.floor(time / 2 ** 15) % 2 ** 15) * 2 + 1, 14);
    bytes.writeUInt16BE((time % 2 ** 15) * 2 + 1, 16);
    return bytes;
  },
  /** With a program clock reference. */
  clock(pid: number): Buffer {
    const bytes = start(pid, 0, 0x30);
    bytes.set([7, 0x10, 0, 0, 1, 0, 0, 0], 4);
    return bytes;
  },
  programs(count: number): Buffer {
    const bytes = start(0, 0x4000, 0x10);
    section(bytes, 0x00, Buffer.alloc(5));
    for (let index = 0; index < count; index += 1)
      bytes.set([0, 1 + index, 0xe0 | 0x10, index], 13 + 4 * index);
    bytes.writeUInt16BE(0xb000 | (9 + 4 * count), 6);
    return sealed(bytes);
  },
  map(count: number): Buffer {
    const bytes = start(0x1000, 0x4000, 0x10);
    section(bytes, 0x02, Buffer.alloc(9));
    for (let index = 0; index < count; index += 1)
      bytes.set([index === 0 ? 0x0f : 0x80 + index, 0xe1, index, 0xf0, 0], 17 + 5 * index);
    bytes.writeUInt16BE(0xb000 | (13 + 5 * count), 6);
    return sealed(bytes);
  },
  padding: (): Buffer => start(0x1fff, 0, 0x10),
};

function start(pid: number, flags: number, control: number): Buffer {
  const bytes = Buffer.alloc(188, 0xff);
  bytes[0] = 0x47;
  bytes.writeUInt16BE(flags | pid, 1);
  bytes[3] = control;
  return bytes;
}

/** A table that is valid now, with its checksum. */
function sealed(bytes: Buffer): Buffer {
  const end = 8 + (bytes.readUInt16BE(6) & 0xfff) - 4;
  bytes[10] = 0xc1;
  let sum = -1;
  for (const byte of bytes.subarray(5, end)) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
  }
  bytes.writeInt32BE(sum, end);
  return bytes;
}

/** A table section up to its list. */
function section(bytes: Buffer, table: number, head: Buffer): void {
  bytes.set([0, table, 0xb0, 0, ...head], 4);
}
