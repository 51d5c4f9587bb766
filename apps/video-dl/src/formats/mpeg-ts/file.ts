import { damaged } from '../rejection.js';
import { initialState, nullPid, packetSize, TransportTracks, type TransportState } from './tracks.js';

/** The first byte of each packet. */
export const transportSync = 0x47;
const detectedPackets = 3;
/** Enough to detect a transport stream. */
export const detectedBytes = detectedPackets * packetSize;
const maxStates = 10_000;

/**
 * A transport stream in one file, such as recordings of broadcasts. ffmpeg reads only the tables at its
 * beginning, so each track keeps its first PID. All packets keep their places.
 */
export class TransportFile {
  readonly tracks = new TransportTracks();
  /** In order of `at`, the offset from which they hold. */
  readonly #states: { readonly at: number; readonly state: TransportState }[] = [];
  /** End of the packets that were read without a gap. */
  #end = 0;

  /** @param head the beginning of the file; null if it isn't a transport stream */
  static from(head: Buffer): TransportFile | null {
    const starts = Array.from({ length: detectedPackets }, (_, index) => head[index * packetSize]);
    return starts.every((byte) => byte === transportSync) ? new TransportFile() : null;
  }

  /**
   * Starts to read at this offset of the file.
   * @returns a function that takes the next bytes, or null at the end, and returns those with the first PIDs. It
   * modifies its input.
   */
  reader(offset: number): (chunk: Buffer | null) => Buffer {
    const isKnown = offset <= this.#end;
    let state = this.#states.findLast(({ at }) => at <= offset)?.state ?? initialState;
    let at = offset;
    let rest: Buffer = Buffer.alloc(0);
    return (chunk) => {
      if (chunk === null) return rest;
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      this.tracks.state = state;
      const used = this.#rewrite(bytes, at, isKnown);
      state = this.tracks.state;
      at += used;
      rest = bytes.subarray(used);
      return bytes.subarray(0, used);
    };
  }

  /** @returns how many bytes are whole packets */
  #rewrite(bytes: Buffer, offset: number, isKnown: boolean): number {
    let at = 0;
    while (at + packetSize <= bytes.length) {
      // A damaged part, or a read that began within a packet.
      if (bytes[at] !== transportSync) at += 1;
      else {
        if (isKnown) this.#read(bytes, at, offset + at);
        this.#rename(bytes, at, isKnown);
        at += packetSize;
      }
    }
    if (isKnown) this.#end = Math.max(this.#end, offset + at);
    return at;
  }

  #read(bytes: Buffer, start: number, offset: number): void {
    if (((bytes[start + 1] ?? 0) & 0x40) === 0) return;
    const { state } = this.tracks;
    this.tracks.read(bytes.subarray(start, start + packetSize));
    if (this.tracks.state === state || offset < this.#end) return;
    if (this.#states.push({ at: offset, state: this.tracks.state }) > maxStates)
      throw damaged('its tables change too often');
  }

  /** Tables far ahead, read to learn the length, would describe tracks by their last PIDs. */
  #rename(bytes: Buffer, start: number, isKnown: boolean): void {
    const flags = bytes[start + 1] ?? 0;
    const pid = ((flags & 0x1f) << 8) | (bytes[start + 2] ?? 0);
    const renamed = isKnown || !this.tracks.isTable(pid) ? this.tracks.outputPid(pid) : null;
    if (renamed === pid) return;
    const output = renamed ?? nullPid;
    // ffmpeg takes any PID for a track if a frame starts there.
    bytes[start + 1] = (renamed === null ? 0 : flags & 0xe0) | (output >> 8);
    bytes[start + 2] = output & 0xff;
  }
}
