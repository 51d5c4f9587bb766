import { crc32, deflateSync } from 'node:zlib';
import { type ColourSpace, iccProfile, type Primaries, spanColours } from './icc-profile.js';

/** Length of the PNG signature. */
const signatureBytes = 8;
/** Offset of the first chunk after the header (IHDR). */
const afterHeader = signatureBytes + 25;

interface PngChunk {
  readonly type: string;
  readonly data: Buffer;
  /** The chunk's start and end in the file, including its length and checksum. */
  readonly start: number;
  readonly end: number;
}

/** The chunks of a PNG before its pixel data (W3C PNG, 5.3). Stops at damage. */
function* chunksBeforePixels(png: Uint8Array): Generator<PngChunk> {
  const file = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  for (let start = signatureBytes; start + 12 <= file.length;) {
    const length = file.readUInt32BE(start);
    const type = file.toString('latin1', start + 4, start + 8);
    const end = start + 12 + length;
    if (type === 'IDAT' || end > file.length) return;
    yield { type, data: file.subarray(start + 8, end - 4), start, end };
    start = end;
  }
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

/** Whether a PNG states only the ratio of a pixel's sides, such as ffmpeg's. libvips reports it as a density. */
export function statesOnlyRatio(png: Uint8Array): boolean {
  const chunks = [...chunksBeforePixels(png)];
  const size = chunks.find(({ type }) => type === 'pHYs')?.data;
  return size?.[8] === 0 && !chunks.some(({ type }) => type === 'eXIf');
}

const d65 = [0.3127, 0.329] as const;
const srgbPrimaries: Primaries = { red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06], white: d65 };

/** Primaries and transfer functions by code (ITU-T H.273). */
const codedPrimaries = new Map<number | undefined, Primaries>([
  [1, srgbPrimaries],
  [5, { red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06], white: d65 }],
  [6, { red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07], white: d65 }],
  [9, { red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046], white: d65 }],
  [12, { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: d65 }],
]);
const codedTransfers = new Map<number | undefined, (value: number) => number>([
  [1, fromBt709],
  [4, (value) => value ** 2.2],
  [5, (value) => value ** 2.8],
  [6, fromBt709],
  [8, (value) => value],
  [13, fromSrgb],
  [14, fromBt709],
  [15, fromBt709],
  [16, fromPq],
  [18, fromHlg],
]);

function fromSrgb(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function fromBt709(value: number): number {
  return value < 0.081 ? value / 4.5 : ((value + 0.099) / 1.099) ** (1 / 0.45);
}

/** SMPTE ST 2084. Graphics white, 203 cd/m² (ITU-R BT.2408), becomes 1; brighter values are clipped. */
function fromPq(value: number): number {
  const power = value ** (32 / 2523);
  const linear = Math.max(0, power - 0.8359375) / (18.8515625 - 18.6875 * power);
  return (10_000 / 203) * linear ** (8192 / 1305);
}

/** ARIB STD-B67. Graphics white, 75 % of the signal (ITU-R BT.2408), becomes 1. */
function fromHlg(value: number): number {
  const scene = (signal: number): number =>
    signal <= 0.5 ? (signal * signal) / 3 : (Math.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12;
  return (scene(value) / scene(0.75)) ** 1.2;
}

/** A gamma this close to sRGB's counts as sRGB, as in libpng. */
const gammaTolerance = 0.05;
const chromaticityTolerance = 0.005;
const colourChunks = new Set(['iCCP', 'sRGB', 'gAMA', 'cHRM', 'cICP']);

/**
 * Adds an ICC profile equivalent to a PNG's `cICP`, or its `gAMA` and `cHRM`, because libvips
 * reads only ICC profiles. Returns the same bytes if there is nothing to add.
 */
export function addIccProfile(png: Uint8Array): Uint8Array {
  const chunks = [...chunksBeforePixels(png)];
  const dataOf = (type: string): Buffer | undefined => chunks.find((chunk) => chunk.type === type)?.data;
  const colourType = dataOf('IHDR')?.[9];
  const isGrey = colourType === 0 || colourType === 4;
  const space = spaceOfCicp(dataOf('cICP')) ?? (hasProfile(dataOf) ? undefined : spaceOfGamma(dataOf));
  if (space === undefined) return png;
  const profile = deflateSync(iccProfile(space, isGrey));
  const parts: Uint8Array[] = [
    png.subarray(0, afterHeader),
    pngChunk('iCCP', Buffer.concat([Buffer.from('stated\0\0', 'latin1'), profile])),
  ];
  let at = afterHeader;
  for (const { type, start, end } of chunks) {
    if (!colourChunks.has(type)) continue;
    parts.push(png.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...parts, png.subarray(at)]);
}

type DataOf = (type: string) => Buffer | undefined;

function hasProfile(dataOf: DataOf): boolean {
  return dataOf('iCCP') !== undefined || dataOf('sRGB') !== undefined;
}

function spaceOfCicp(data: Buffer | undefined): ColourSpace | undefined {
  // PNG allows only RGB (matrix 0); we support only full range.
  if (data?.length !== 4 || data[2] !== 0 || data[3] !== 1) return undefined;
  const primaries = codedPrimaries.get(data[0]);
  const toLinear = codedTransfers.get(data[1]);
  return primaries && toLinear && { primaries, toLinear };
}

function spaceOfGamma(dataOf: DataOf): ColourSpace | undefined {
  const gamma = dataOf('gAMA');
  if (gamma?.length !== 4) return undefined;
  const exponent = 100_000 / gamma.readUInt32BE();
  // Other values are errors in the file.
  if (!(exponent >= 0.2 && exponent <= 10)) return undefined;
  const primaries = primariesFromChrm(dataOf('cHRM')) ?? srgbPrimaries;
  const isLikeSrgb = Math.abs(exponent / 2.2 - 1) <= gammaTolerance;
  if (isLikeSrgb && primaries === srgbPrimaries) return undefined;
  return { primaries, toLinear: (value) => value ** exponent };
}

function primariesFromChrm(data: Buffer | undefined): Primaries | undefined {
  if (data?.length !== 32) return undefined;
  const point = (i: number): readonly [number, number] => [
    data.readUInt32BE(8 * i) / 100_000,
    data.readUInt32BE(8 * i + 4) / 100_000,
  ];
  const stated: Primaries = { white: point(0), red: point(1), green: point(2), blue: point(3) };
  const pairs = (['white', 'red', 'green', 'blue'] as const).map(
    (name) => [stated[name], srgbPrimaries[name]] as const,
  );
  if (!pairs.every(([[x, y]]) => y > 0 && x + y <= 1) || !spanColours(stated)) return undefined;
  const distance = ([[x, y], [u, v]]: (typeof pairs)[number]): number => Math.hypot(x - u, y - v);
  return pairs.every((pair) => distance(pair) <= chromaticityTolerance) ? undefined : stated;
}
