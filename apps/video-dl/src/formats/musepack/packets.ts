import { UnitCheck } from '../structure-check.js';

const magicBytes = 4;
const keyBytes = 2;
/** The packet that ends a stream: its key and its size. */
const lastPacketBytes = 3;

/** Follows the packets of Musepack SV8: a stream without its last packet (`SE`) is incomplete. */
export class MusepackPackets extends UnitCheck {
  protected override left = magicBytes;
  #position = 0;
  statedBytes = magicBytes + lastPacketBytes;

  override skip(bytes: number): void {
    super.skip(bytes);
    this.#position += bytes;
  }

  protected begin(bytes: Buffer, start: number): number | null {
    const header = bytes.subarray(start, start + keyBytes + maxNumberBytes);
    if (header.length < lastPacketBytes) return null;
    const key = header.toString('latin1', 0, keyBytes);
    const lastByte = header.findIndex((byte, at) => at >= keyBytes && byte < 0x80);
    if (lastByte < 0 && header.length < keyBytes + maxNumberBytes) return null;
    // Sizes include the header. Damage ends the search for the last packet.
    const size = lastByte < 0 ? 0 : readBase128(header, keyBytes).value;
    this.isOver = key === 'SE' || size < lastPacketBytes;
    this.left = size;
    this.statedBytes = this.#position + size + (key === 'SE' ? 0 : lastPacketBytes);
    return 0;
  }
}

const musepackRates = [44_100, 48_000, 37_800, 32_000];

/** The length in the header of Musepack SV8, which ffmpeg rounds down to whole packets of up to 7 minutes. */
export function musepackSeconds(start: Buffer): number | undefined {
  if (start.toString('latin1', 0, 6) !== 'MPCKSH') return undefined;
  const size = readBase128(start, 6);
  const samples = readBase128(start, size.end + checksumAndVersionBytes);
  const silence = readBase128(start, samples.end);
  const rate = musepackRates[start.readUInt8(silence.end) >> 5];
  const seconds = rate === undefined ? 0 : (samples.value - silence.value) / rate;
  return seconds > 0 ? seconds : undefined;
}

const checksumAndVersionBytes = 5;

/** More than any number takes. */
const maxNumberBytes = 8;

/** Seven bits a byte; all but the last have the highest bit set. */
function readBase128(bytes: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let end = at; end < at + maxNumberBytes; end += 1) {
    const byte = bytes.readUInt8(end);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: end + 1 };
  }
  return { value, end: at + maxNumberBytes };
}
