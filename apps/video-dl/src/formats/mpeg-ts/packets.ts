import type { TrackChanges } from '../joiner.js';
import { notJoinable } from '../rejection.js';
import { type StructureCheck, UnitWalker } from '../structure-check.js';
import { packetSize, TransportTracks } from './tracks.js';

/** The first byte of each packet. */
export const transportSync = 0x47;
/** So many packets in a row are no coincidence. */
export const provingPackets = 3;

/**
 * Follows the tables of a transport stream in one file, such as the recording of a broadcast. ffmpeg reads only
 * those at its beginning.
 */
export class TransportPackets extends UnitWalker implements StructureCheck {
  readonly #tracks = new TransportTracks();
  readonly changes: TrackChanges = this.#tracks;

  /** Reads all whole packets. @throws Rejection if a track moves to another PID, where ffmpeg would lose it */
  protected beginUnit(bytes: Buffer, start: number): number | null {
    if (this.position === 0 && bytes.length < provingPackets * packetSize) return null;
    this.isOver = this.position === 0 && !isStream(bytes, 0);
    if (this.isOver) return 0;
    let at = start;
    while (at + packetSize <= bytes.length) {
      // A damaged part.
      if (bytes[at] !== transportSync) at += 1;
      else {
        if (((bytes[at + 1] ?? 0) & 0x40) !== 0) this.#read(bytes.subarray(at, at + packetSize));
        at += packetSize;
      }
    }
    return at === start ? null : at - start;
  }

  #read(packet: Buffer): void {
    this.#tracks.read(packet);
    if (this.#tracks.isMoved) throw notJoinable('changes its tracks in the middle');
  }
}

export function isStream(bytes: Buffer, at: number): boolean {
  for (let packet = 0; packet < provingPackets; packet += 1)
    if (bytes[at + packet * packetSize] !== transportSync) return false;
  return true;
}
