import { maxNumberBytes, readBase128 } from '../musepack.js';
import type { StructureCheck } from './structure-check.js';

const magicBytes = 4;
const keyBytes = 2;
/** The packet that ends a stream: its key and its size. */
const lastPacketBytes = 3;

/** Follows the packets of Musepack SV8: a stream without its last packet (`SE`) is incomplete. */
export class MusepackPackets implements StructureCheck {
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;
  #left = magicBytes;
  #isOver = false;
  statedBytes = magicBytes + lastPacketBytes;

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (!this.#isOver) {
      const passed = Math.min(this.#left, bytes.length - at);
      this.skip(passed);
      at += passed;
      if (this.#left > 0 || !this.#begin(bytes.subarray(at, at + keyBytes + maxNumberBytes))) break;
    }
    this.#rest = this.#isOver ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  canSkip(bytes: number): boolean {
    return this.#isOver || bytes <= this.#left - this.#rest.length;
  }

  skip(bytes: number): void {
    this.#left -= Math.min(this.#left, bytes);
    this.#position += bytes;
  }

  /** @returns whether the header is complete */
  #begin(header: Buffer): boolean {
    if (header.length < lastPacketBytes) return false;
    const key = header.toString('latin1', 0, keyBytes);
    const lastByte = header.findIndex((byte, at) => at >= keyBytes && byte < 0x80);
    if (lastByte < 0 && header.length < keyBytes + maxNumberBytes) return false;
    // Sizes include the header. Damage ends the search for the last packet.
    const size = lastByte < 0 ? 0 : readBase128(header, keyBytes).value;
    this.#isOver = key === 'SE' || size < lastPacketBytes;
    this.#left = size;
    this.statedBytes = this.#position + size + (key === 'SE' ? 0 : lastPacketBytes);
    return true;
  }
}
