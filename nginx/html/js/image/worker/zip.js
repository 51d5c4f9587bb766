import { crc } from './png.js';

const utf8Names = 0x0800;
const version = 20;
/** 1980-01-01, the format's earliest date. */
const date = 0x21;

/**
 * Builds a ZIP archive (APPNOTE 6.3). Stores files without compression, because they are
 * already compressed.
 * @param {{ name: string, blob: Blob }[]} files `{ name, blob }` with unique names; less than 4 GiB in total
 * @returns a Blob
 */
export async function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, blob } of files) {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    const encoded = new TextEncoder().encode(name);
    const checksum = (crc(bytes, 0xffffffff) ^ 0xffffffff) >>> 0;
    const common = [u16(version), u16(utf8Names), u16(0), u16(0), u16(date), u32(checksum)];
    const sizes = [u32(bytes.length), u32(bytes.length), u16(encoded.length), u16(0)];
    const header = joined([u32(0x04034b50), ...common, ...sizes, encoded]);
    const entry = [u32(0x02014b50), u16(version), ...common, ...sizes];
    directory.push(joined([...entry, u16(0), u16(0), u16(0), u32(0), u32(offset), encoded]));
    parts.push(header, blob);
    offset += header.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const counts = [u16(0), u16(0), u16(files.length), u16(files.length)];
  const end = joined([u32(0x06054b50), ...counts, u32(size), u32(offset), u16(0)]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/** @param {number} value */
function u16(value) {
  return new Uint8Array([value, value >>> 8]);
}

/** @param {number} value */
function u32(value) {
  return new Uint8Array([value, value >>> 8, value >>> 16, value >>> 24]);
}

/** @param {Uint8Array[]} arrays */
function joined(arrays) {
  const bytes = new Uint8Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    bytes.set(array, at);
    at += array.length;
  }
  return bytes;
}
