import { isStream, provingPackets } from './packets.js';
import { packetSize } from './tracks.js';

/** PNG, BMP, GIF, JPEG. */
const signatures = ['\u0089PNG', 'BM', 'GIF8', '\u00ff\u00d8\u00ff'];
const signatureBytes = 4;
const maxImageBytes = 16 * 1024;

/**
 * Removes a small image before a transport stream. Sites put one before each segment, so that image hosts
 * accept them; it may end after its signature. Anything else stays as it is.
 */
export class LeadingImage {
  /** Null once the start has been seen. */
  #held: Buffer | null = Buffer.alloc(0);

  /** @returns the bytes to read so far, possibly none */
  push(chunk: Buffer): Buffer {
    if (this.#held === null) return chunk;
    this.#held = Buffer.concat([this.#held, chunk]);
    const neededBytes = isImage(this.#held) ? maxImageBytes + provingPackets * packetSize : signatureBytes;
    return this.#held.length < neededBytes ? Buffer.alloc(0) : this.end();
  }

  /** @returns what is still held */
  end(): Buffer {
    const head = this.#held ?? Buffer.alloc(0);
    this.#held = null;
    return isImage(head) ? afterImage(head) : head;
  }
}

function isImage(head: Buffer): boolean {
  return signatures.some((signature) => head.toString('latin1', 0, signature.length) === signature);
}

function afterImage(head: Buffer): Buffer {
  const limit = Math.min(maxImageBytes, head.length - provingPackets * packetSize);
  for (let at = 0; at <= limit; at += 1) if (isStream(head, at)) return head.subarray(at);
  return head;
}
