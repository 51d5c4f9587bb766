/**
 * Reads and writes PNG (ISO/IEC 15948) with eight bits per channel. A canvas could too, but it
 * premultiplies alpha and so loses the colours of faint pixels.
 */
/** @typedef {import('./frame.js').Image} Image */

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const colourTypes = { rgb: 2, rgba: 6 };
const paethFilter = 4;
const rowsPerWrite = 64;

/**
 * @param {Blob} file a PNG as sent by bg-removal: true colour with alpha, not interlaced
 * @returns `{ data, width, height }`, RGBA with straight alpha
 */
export async function decodePng(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const view = new DataView(bytes.buffer);
  if (!signature.every((byte, at) => bytes[at] === byte)) throw new Error('This is not a PNG.');
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [depth, colourType, , , interlace] = bytes.subarray(24, 29);
  if (depth !== 8 || colourType !== colourTypes.rgba || interlace !== 0) {
    throw new Error('The PNG has an unsupported format.');
  }
  const packed = [];
  for (let at = 8; at < bytes.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (type === 'IDAT') packed.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const rows = new Blob(packed).stream().pipeThrough(new DecompressionStream('deflate'));
  return { data: await unfilter(rows, width, height), width, height };
}

/** @param {ReadableStream<Uint8Array>} stream @param {number} width @param {number} height */
async function unfilter(stream, width, height) {
  const size = width * 4;
  const data = new Uint8ClampedArray(size * height);
  const line = new Uint8Array(size + 1);
  let filled = 0;
  let row = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let from = 0; from < value.length;) {
      const part = value.subarray(from, from + line.length - filled);
      line.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < line.length) break;
      unfilterRow(line, data, row * size, size);
      filled = 0;
      row++;
    }
  }
  if (row !== height) throw new Error('The PNG is truncated.');
  return data;
}

/**
 * @param {Uint8Array} line @param {Uint8ClampedArray<ArrayBuffer>} data @param {number} start
 * @param {number} size
 */
function unfilterRow(line, data, start, size) {
  const above = start - size;
  const filter = line[0];
  for (let i = 0; i < size; i++) {
    const left = i < 4 ? 0 : data[start + i - 4];
    const up = above < 0 ? 0 : data[above + i];
    const corner = i < 4 || above < 0 ? 0 : data[above + i - 4];
    const guess = predict(filter, left, up, corner);
    data[start + i] = (line[i + 1] + guess) & 0xff;
  }
}

/** @param {number} filter @param {number} left @param {number} up @param {number} corner */
function predict(filter, left, up, corner) {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4:
      return paeth(left, up, corner);
    default:
      throw new Error('The PNG has an invalid filter.');
  }
}

/** @param {number} left @param {number} up @param {number} corner */
function paeth(left, up, corner) {
  const byLeft = Math.abs(up - corner);
  const byUp = Math.abs(left - corner);
  const byCorner = Math.abs(left + up - 2 * corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/**
 * @param {Image} image `{ data, width, height }`, RGBA with straight alpha
 * @param {{ opaque?: boolean }} [options] `opaque` omits alpha from the file
 * @returns a Blob
 */
export async function encodePng({ data, width, height }, { opaque = false } = {}) {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, opaque ? colourTypes.rgb : colourTypes.rgba);
  const packed = await deflated(data, width, height, opaque ? 3 : 4);
  return new Blob(
    [
      new Uint8Array(signature),
      ...chunk('IHDR', new Uint8Array(header.buffer)),
      ...chunk('IDAT', packed),
      ...chunk('IEND', new Uint8Array(0)),
    ],
    { type: 'image/png' },
  );
}

/**
 * @param {Uint8ClampedArray<ArrayBuffer>} data @param {number} width @param {number} height
 * @param {number} channels
 */
async function deflated(data, width, height, channels) {
  const packer = new CompressionStream('deflate');
  const result = new Response(packer.readable).arrayBuffer();
  const writer = packer.writable.getWriter();
  for (let row = 0; row < height; row += rowsPerWrite) {
    const rows = Math.min(rowsPerWrite, height - row);
    await writer.write(filterRows(data, width, row, rows, channels));
  }
  await writer.close();
  return new Uint8Array(await result);
}

/**
 * @param {Uint8ClampedArray<ArrayBuffer>} data @param {number} width @param {number} firstRow
 * @param {number} rows @param {number} channels
 */
function filterRows(data, width, firstRow, rows, channels) {
  const filtered = new Uint8Array(rows * (width * channels + 1));
  let to = 0;
  for (let row = firstRow; row < firstRow + rows; row++) {
    filtered[to++] = paethFilter;
    const start = row * width * 4;
    const above = start - width * 4;
    for (let x = 0; x < width; x++) {
      for (let channel = 0, i = x * 4; channel < channels; channel++, i++) {
        const left = x === 0 ? 0 : data[start + i - 4];
        const up = above < 0 ? 0 : data[above + i];
        const corner = x === 0 || above < 0 ? 0 : data[above + i - 4];
        filtered[to++] = data[start + i] - paeth(left, up, corner);
      }
    }
  }
  return filtered;
}

/** @param {string} type @param {Uint8Array<ArrayBuffer>} body */
function chunk(type, body) {
  const head = new Uint8Array(8);
  const view = new DataView(head.buffer);
  view.setUint32(0, body.length);
  head.set(
    [...type].map((letter) => letter.charCodeAt(0)),
    4,
  );
  const tail = new DataView(new ArrayBuffer(4));
  tail.setUint32(0, (crc(body, crc(head.subarray(4), 0xffffffff)) ^ 0xffffffff) >>> 0);
  return [head, body, tail.buffer];
}

const crcTable = Uint32Array.from({ length: 256 }, (_, value) => {
  let remainder = value;
  for (let bit = 0; bit < 8; bit++)
    remainder = remainder & 1 ? 0xedb88320 ^ (remainder >>> 1) : remainder >>> 1;
  return remainder;
});

/**
 * Updates the CRC-32 of PNG and ZIP, starting with 0xffffffff; the final value must be inverted.
 * @param {Uint8Array} bytes @param {number} start
 */
export function crc(bytes, start) {
  let remainder = start;
  for (let i = 0; i < bytes.length; i++) {
    remainder = crcTable[(remainder ^ bytes[i]) & 0xff] ^ (remainder >>> 8);
  }
  return remainder;
}
