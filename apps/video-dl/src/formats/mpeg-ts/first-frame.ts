import type { FirstFrameKind } from '../joiner.js';
import { packetSize, payloadStart } from './tracks.js';

const startCode = Buffer.from([0, 0, 1]);
/** Per unit of supplemental information. */
const maxMessages = 8;
const recoveryPoint = 6;

/** What the units of a stream type say about a frame (ISO 14496-10, table 7-1; ISO 23008-2, table 7-1). */
const readers: Readonly<Record<number, (bytes: Buffer, at: number) => FirstFrameKind | null>> = {
  0x1b: (bytes, at) => {
    const type = bytes.readUInt8(at) & 0x1f;
    if (type === 5) return 'key';
    if (type === 6) return hasRecoveryPoint(bytes, at + 1) ? 'recovery' : null;
    return type === 1 || type === 2 ? 'other' : null;
  },
  0x24: (bytes, at) => {
    const type = (bytes.readUInt8(at) >> 1) & 0x3f;
    if (type >= 16 && type <= 21) return 'key';
    return type <= 9 ? 'other' : null;
  },
};

/** Whether we can tell the frames of a stream type (ISO 13818-1, table 2-34) apart. */
export function isReadable(type: number): boolean {
  return type in readers;
}

/** Finds out how the video of a transport stream begins, from the packets of its first frame. */
export class FirstFrame {
  kind: FirstFrameKind | null = null;
  #hasBegun = false;
  /** The end of the last packet, which may be the beginning of a start code. */
  #rest: Buffer = Buffer.alloc(0);

  /** @param type of the packet's track */
  push(packet: Buffer, type: number): void {
    const read = readers[type];
    const isBeginning = (packet.readUInt8(1) & 0x40) !== 0;
    if (this.kind !== null || read === undefined || !(isBeginning || this.#hasBegun)) return;
    if (isBeginning && this.#hasBegun) {
      this.kind = 'other';
      return;
    }
    this.#hasBegun = true;
    const bytes = Buffer.concat([this.#rest, packet.subarray(payloadStart(packet), packetSize)]);
    let at = bytes.indexOf(startCode);
    for (; at !== -1 && at + 3 < bytes.length; at = bytes.indexOf(startCode, at + 3)) {
      this.kind = read(bytes, at + 3);
      if (this.kind !== null) return;
    }
    this.#rest = Buffer.from(bytes.subarray(-3));
  }
}

/** Whether supplemental information (ISO 14496-10, 7.3.2.3) says that decoding may begin here. */
function hasRecoveryPoint(bytes: Buffer, start: number): boolean {
  let at = start;
  for (let count = 0; count < maxMessages && at + 1 < bytes.length; count += 1) {
    if (bytes[at] === recoveryPoint) return true;
    const size = bytes.readUInt8(at + 1);
    if (bytes[at] === 0xff || size === 0xff) return false;
    at += 2 + size;
  }
  return false;
}
