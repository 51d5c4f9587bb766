import type {
  FirstFrameKind,
  FirstTimes,
  Joiner,
  SegmentFacts,
  TrackChanges,
  TrackLengths,
} from '../joiner.js';
import { damaged } from '../rejection.js';
import { Timeline } from '../timeline.js';
import { FirstFrame, isReadable } from './first-frame.js';
import { kindOf, packetSize, payloadStart, pidOf, TransportTracks } from './tracks.js';

const clockRate = 90_000;
/** Timestamps have 33 bits and wrap after 26.5 hours. */
const clockSpan = 2 ** 33;
/** Before the first table, any PID may be one. */
const maxTracks = 64;
/** The most packets held back to find the first timestamps on a new clock. */
const maxHeldPackets = 12_000;
/** Some packagers fill up the last block with zeros before they encrypt a segment. */
const maxPaddingBytes = 15;

/**
 * Joins segments of an MPEG transport stream (ISO 13818-1). Checks the sync byte of each
 * packet, maps times to one clock, and keeps the PID of a track when a later segment changes it.
 * The continuity counters may start again in each segment: ffmpeg only warns of that.
 */
export class TransportStreamJoiner implements Joiner {
  readonly #timeline = new Timeline();
  /** Keyed by PID: its last time on the source's clock, with the upper bits restored. */
  readonly #clocks = new Map<number, number>();
  #lastClock: number | null = null;
  #rest = Buffer.alloc(0);
  /** Packets of a segment that hasn't been placed in time; null once it has. */
  #held: Buffer[] | null = [];
  #heldPackets = 0;
  #firsts = new Map<number, number>();
  /** Whether one of the first times is on a new clock. */
  #isJump = false;
  /** Tracks of the previous segment without a first time in this one. */
  #awaited = new Set<number>();
  startSeconds: number | null = null;
  /** Keyed by PID: its first presentation time on the source's clock, in seconds. */
  readonly #firstTimes = new Map<number, number>();
  /** Keyed by PID: from its first time to the second, in seconds. */
  readonly #firstSteps = new Map<number, number>();
  readonly #tables = new TransportTracks();
  readonly changes: TrackChanges = this.#tables;
  readonly #firstFrame = new FirstFrame();

  get firstFrame(): FirstFrameKind | null | undefined {
    const hasFrames = this.#tables.tracks?.some(({ type }) => isReadable(type)) === true;
    return hasFrames ? this.#firstFrame.kind : undefined;
  }

  get frameSeconds(): number | null {
    const video = this.#tables.tracks?.find(({ type }) => kindOf(type) === 'video');
    return video === undefined ? null : (this.#firstSteps.get(video.pid) ?? null);
  }

  get firstTimes(): FirstTimes {
    const tracks = (this.#tables.tracks ?? []).filter(({ type }) => kindOf(type) !== 'other');
    const of = (kind: 'video' | 'audio') =>
      tracks.flatMap(({ type, pid }) =>
        kindOf(type) === kind ? (this.#firstTimes.get(pid) ?? []) : [],
      )[0] ?? null;
    const areAllKnown = tracks.length > 0 && tracks.every(({ pid }) => this.#firstTimes.has(pid));
    return { video: of('video'), audio: of('audio'), areAllKnown };
  }

  get lengths(): TrackLengths {
    return this.#timeline.lengths((pid) =>
      kindOf(this.#tables.tracks?.find((track) => track.pid === pid)?.type ?? 0),
    );
  }

  begin(facts: SegmentFacts): void {
    this.#timeline.beginSegment(facts);
    this.#held = [];
    this.#heldPackets = 0;
    this.#firsts = new Map();
    this.#isJump = false;
    this.#awaited = new Set(this.#timeline.recentTracks);
  }

  /** @param chunk modified in place */
  push(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const wholeBytes = bytes.length - (bytes.length % packetSize);
    this.#rest = Buffer.from(bytes.subarray(wholeBytes));
    return wholeBytes === 0 ? [] : this.#take(bytes.subarray(0, wholeBytes));
  }

  end(): readonly Buffer[] {
    if (this.#rest.length > maxPaddingBytes || this.#rest.some((byte) => byte !== 0))
      throw damaged('a part of it ends in the middle of a packet');
    this.#rest = Buffer.alloc(0);
    const output = this.#place();
    this.#timeline.endSegment();
    return output;
  }

  finish(): void {
    this.#timeline.finish();
  }

  #take(packets: Buffer): readonly Buffer[] {
    for (let at = 0; at < packets.length; at += packetSize) {
      if (packets[at] !== 0x47) throw damaged("a part of it isn't a transport stream");
    }
    return this.#held === null ? this.#rewrite(packets) : this.#hold(this.#held, packets);
  }

  /** Holds packets back until the segment can be placed in time. */
  #hold(held: Buffer[], packets: Buffer): readonly Buffer[] {
    held.push(packets);
    for (let at = 0; at < packets.length; at += packetSize) {
      this.#heldPackets += 1;
      const packet = packets.subarray(at, at + packetSize);
      if ((packet.readUInt8(1) & 0x40) !== 0) this.#tables.read(packet);
      const pid = this.#tables.outputPid(pidOf(packet));
      const time = pid === null || !this.#isTrack(pid) ? null : this.#decodeTime(packet, pid, true);
      if (pid !== null && time !== null) this.#noteFirst(pid, time);
      if ((time !== null || this.#heldPackets >= maxHeldPackets) && this.#isPlaced()) return this.#place();
    }
    return [];
  }

  #noteFirst(pid: number, time: number): void {
    if (this.#firsts.has(pid)) return;
    this.#firsts.set(pid, time);
    this.#awaited.delete(pid);
    this.#isJump ||= this.#timeline.isJump(pid, time);
  }

  #isPlaced(): boolean {
    if (this.#firsts.size === 0) {
      if (this.#heldPackets >= maxHeldPackets) throw damaged('a part of it has no timestamps');
      return false;
    }
    if (!this.#timeline.facts.isDiscontinuity && !this.#isJump) return true;
    return this.#heldPackets >= maxHeldPackets || this.#awaited.size === 0;
  }

  #place(): readonly Buffer[] {
    const held = this.#held;
    this.#held = null;
    if (held === null) return [];
    if (this.#firsts.size > 0) this.#timeline.place(this.#firsts);
    return held.flatMap((packets) => this.#rewrite(packets));
  }

  /**
   * Rewrites packets in place to one clock and set of PIDs. Most packets have neither a table nor a
   * timestamp, so only their PID is read.
   */
  #rewrite(packets: Buffer): readonly Buffer[] {
    let kept = 0;
    for (let at = 0; at < packets.length; at += packetSize) {
      const flags = packets[at + 1] ?? 0;
      const isStart = (flags & 0x40) !== 0;
      if (isStart) this.#tables.read(packets.subarray(at, at + packetSize));
      const inputPid = ((flags & 0x1f) << 8) | (packets[at + 2] ?? 0);
      const pid = this.#tables.outputPid(inputPid);
      if (pid === null) continue;
      if (pid !== inputPid) {
        packets[at + 1] = (flags & 0xe0) | (pid >> 8);
        packets[at + 2] = pid & 0xff;
      }
      if (this.#firstFrame.kind === null) this.#readFirstFrame(packets.subarray(at, at + packetSize), pid);
      if (isStart || hasProgramClock(packets, at))
        this.#moveTimes(packets.subarray(at, at + packetSize), pid);
      if (kept !== at) packets.copyWithin(kept, at, at + packetSize);
      kept += packetSize;
    }
    return kept === 0 ? [] : [packets.subarray(0, kept)];
  }

  #readFirstFrame(packet: Buffer, pid: number): void {
    const video = this.#tables.tracks?.find(({ type }) => isReadable(type));
    if (pid === video?.pid) this.#firstFrame.push(packet, video.type);
  }

  #moveTimes(packet: Buffer, pid: number): void {
    const time = this.#isTrack(pid) ? this.#decodeTime(packet, pid, false) : null;
    if (time !== null) this.#timeline.add(pid, time);
    moveTimes(packet, Math.round(this.#timeline.offset * clockRate));
  }

  /** Whether a PID carries audio or video. Before the first table, any PID may. */
  #isTrack(pid: number): boolean {
    const { tracks } = this.#tables;
    const track = tracks?.find((known) => known.pid === pid);
    return tracks === null || (track !== undefined && kindOf(track.type) !== 'other');
  }

  /** The decode time at the start of a PES packet (2.4.3.7), in seconds on the source's clock. */
  #decodeTime(packet: Buffer, pid: number, isPreview: boolean): number | null {
    const fields = timeFields(packet);
    const at = fields.at(-1);
    if (at === undefined) return null;
    const raw = readTime(packet, at);
    const near = this.#clocks.get(pid) ?? this.#lastClock ?? raw;
    const step = modulo(raw - modulo(near, clockSpan) + clockSpan / 2, clockSpan) - clockSpan / 2;
    const clock = near + step;
    if (!this.#firstTimes.has(pid)) {
      if (this.#firstTimes.size >= maxTracks) throw damaged('it has too many streams');
      const [first = at] = fields;
      const time = (clock + modulo(readTime(packet, first) - raw, clockSpan)) / clockRate;
      this.#firstTimes.set(pid, time);
      this.startSeconds ??= time;
    }
    if (!isPreview) {
      if (this.#clocks.has(pid) && !this.#firstSteps.has(pid)) this.#firstSteps.set(pid, step / clockRate);
      this.#clocks.set(pid, clock);
      this.#lastClock = clock;
    }
    return clock / clockRate;
  }
}

/** Offsets of the presentation and decode times in a packet, in this order; empty if it has none. */
function timeFields(packet: Buffer): number[] {
  if ((packet.readUInt8(1) & 0x40) === 0) return [];
  const start = payloadStart(packet);
  if (start + 14 > packetSize || packet.readUIntBE(start, 3) !== 1) return [];
  const id = packet.readUInt8(start + 3);
  if (!(id === 0xbd || id === 0xfd || (id >= 0xc0 && id <= 0xef))) return [];
  const flags = packet.readUInt8(start + 7) >> 6;
  if (flags === 2) return [start + 9];
  return flags === 3 && start + 19 <= packetSize ? [start + 9, start + 14] : [];
}

function readTime(packet: Buffer, at: number): number {
  const top = (packet.readUInt8(at) >> 1) & 7;
  return top * 2 ** 30 + (packet.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (packet.readUInt16BE(at + 3) >> 1);
}

function writeTime(packet: Buffer, at: number, time: number): void {
  const top = Math.floor(time / 2 ** 30);
  packet.writeUInt8((packet.readUInt8(at) & 0xf1) | (top << 1), at);
  packet.writeUInt16BE((Math.floor(time / 2 ** 15) % 2 ** 15) * 2 + 1, at + 1);
  packet.writeUInt16BE((time % 2 ** 15) * 2 + 1, at + 3);
}

/** Whether the packet at `at` has a program clock reference. */
function hasProgramClock(packets: Buffer, at: number): boolean {
  return (
    ((packets[at + 3] ?? 0) & 0x20) !== 0 &&
    (packets[at + 4] ?? 0) >= 7 &&
    ((packets[at + 5] ?? 0) & 0x10) !== 0
  );
}

/** Shifts the presentation and decode times and the program clock reference (2.4.3.4). */
function moveTimes(packet: Buffer, ticks: number): void {
  if (hasProgramClock(packet, 0)) {
    const base = packet.readUInt32BE(6) * 2 + (packet.readUInt8(10) >> 7);
    const moved = modulo(base + ticks, clockSpan);
    packet.writeUInt32BE(Math.floor(moved / 2), 6);
    packet.writeUInt8((packet.readUInt8(10) & 0x7f) | ((moved % 2) << 7), 10);
  }
  for (const at of timeFields(packet)) writeTime(packet, at, modulo(readTime(packet, at) + ticks, clockSpan));
}

function modulo(value: number, span: number): number {
  return ((value % span) + span) % span;
}
