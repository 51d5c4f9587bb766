import { damaged, notJoinable, type Joiner, type SegmentFacts, type TrackLengths } from './joiner.js';
import { Timeline } from './timeline.js';

const packetSize = 188;
const clockRate = 90_000;
/** Times have 33 bits: they begin again after 26.5 hours. */
const clockSpan = 2 ** 33;
const patPid = 0;
const nullPid = 0x1fff;
/** So much is held back to see where the tracks of a new clock begin. */
const maxHeldPackets = 12_000;

/** An elementary stream as the program map names it (ISO 13818-1, 2.4.4.8). */
interface Elementary {
  readonly type: number;
  readonly pid: number;
}

/**
 * Joins segments of an MPEG transport stream (ISO 13818-1): packets are checked
 * for their sync byte, continuity counters go on across segments, times are those
 * of one clock, and a track keeps its PID where a later segment gives it another.
 */
export class TransportStreamJoiner implements Joiner {
  readonly #timeline = new Timeline();
  /** Added to the continuity counter of a PID in the present segment. */
  readonly #counterShifts = new Map<number, number>();
  readonly #counters = new Map<number, number>();
  /** By PID: its last time on the source's clock, with the lost upper bits. */
  readonly #clocks = new Map<number, number>();
  #lastClock: number | null = null;
  #facts: SegmentFacts = { seconds: null, isRounded: false, isDiscontinuity: false, initialisation: null };
  #rest = Buffer.alloc(0);
  /** Packets of a segment that has not been placed yet; null after. */
  #held: Buffer[] | null = [];
  #firsts = new Map<number, number>();
  #startSeconds: number | null = null;
  #pmtPids = new Set<number>();
  #tracks: readonly Elementary[] | null = null;
  /** From a PID of the present segment to the one that its track has in the output; null drops its packets. */
  #renamed = new Map<number, number | null>();

  get startSeconds(): number | null {
    return this.#startSeconds;
  }

  get lengths(): TrackLengths {
    return this.#timeline.lengths((pid) =>
      kindOf(this.#tracks?.find((track) => track.pid === pid)?.type ?? 0),
    );
  }

  begin(facts: SegmentFacts): void {
    this.#facts = facts;
    this.#held = [];
    this.#firsts = new Map();
    this.#counterShifts.clear();
  }

  push(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % packetSize);
    this.#rest = Buffer.from(bytes.subarray(whole));
    if (whole === 0) return [];
    // Packets are changed where they lie, so they must be our own.
    const packets = bytes === chunk ? Buffer.from(bytes.subarray(0, whole)) : bytes.subarray(0, whole);
    for (let at = 0; at < whole; at += packetSize) {
      if (packets[at] !== 0x47) throw damaged('a part of it is no transport stream');
    }
    if (this.#held === null) return [this.#rewrite(packets)];
    return this.#hold(packets);
  }

  end(): readonly Buffer[] {
    if (this.#rest.length > 0) throw damaged('a part of it ends in the middle of a packet');
    const output = this.#place();
    this.#timeline.endSegment(this.#facts);
    return output;
  }

  finish(): void {
    this.#timeline.finish();
  }

  /** Holds packets back until it is known where the segment belongs in time. */
  #hold(packets: Buffer): readonly Buffer[] {
    const held = this.#held ?? [];
    for (let at = 0; at < packets.length; at += packetSize) {
      const packet = packets.subarray(at, at + packetSize);
      held.push(packet);
      this.#readTables(packet);
      const pid = this.#outputPid(pidOf(packet));
      const time = pid === null || !this.#isTrack(pid) ? null : this.#decodeTime(packet, pid, true);
      if (pid !== null && time !== null && !this.#firsts.has(pid)) this.#firsts.set(pid, time);
      if (time !== null || held.length >= maxHeldPackets) {
        if (!this.#isPlaced(held.length)) continue;
        const output = this.#place();
        const rest = packets.subarray(at + packetSize);
        return rest.length === 0 ? output : [...output, this.#rewrite(rest)];
      }
    }
    return [];
  }

  #isPlaced(heldPackets: number): boolean {
    if (this.#firsts.size === 0) return false;
    const { isDiscontinuity } = this.#facts;
    const isJump = [...this.#firsts].some(([pid, time]) => this.#timeline.isJump(pid, time));
    if (!isDiscontinuity && !isJump) return true;
    return (
      heldPackets >= maxHeldPackets || [...this.#timeline.recentTracks].every((pid) => this.#firsts.has(pid))
    );
  }

  #place(): readonly Buffer[] {
    const held = this.#held;
    this.#held = null;
    if (held === null) return [];
    if (this.#firsts.size > 0) this.#timeline.begin(this.#firsts, this.#facts.isDiscontinuity);
    return held.length === 0 ? [] : [this.#rewrite(Buffer.concat(held))];
  }

  /** Brings packets into the one clock, counter and set of PIDs; in place. */
  #rewrite(packets: Buffer): Buffer {
    let kept = 0;
    for (let at = 0; at < packets.length; at += packetSize) {
      const packet = packets.subarray(at, at + packetSize);
      this.#readTables(packet);
      const pid = this.#outputPid(pidOf(packet));
      if (pid === null) continue;
      packet.writeUInt16BE((packet.readUInt16BE(1) & 0xe000) | pid, 1);
      this.#recount(packet, pid);
      const time = this.#isTrack(pid) ? this.#decodeTime(packet, pid, false) : null;
      if (time !== null) this.#timeline.add(pid, time);
      moveTimes(packet, Math.round(this.#timeline.offset * clockRate));
      if (kept !== at) packet.copy(packets, kept);
      kept += packetSize;
    }
    return packets.subarray(0, kept);
  }

  #outputPid(pid: number): number | null {
    const renamed = this.#renamed.get(pid);
    return renamed === undefined ? pid : renamed;
  }

  /** Whether a PID carries sound or pictures; as long as no table has come, any may. */
  #isTrack(pid: number): boolean {
    const track = this.#tracks?.find((known) => known.pid === pid);
    return this.#tracks === null || (track !== undefined && kindOf(track.type) !== 'other');
  }

  /** Continuity counters (2.4.3.3) go on from segment to segment; gaps inside of one stay visible. */
  #recount(packet: Buffer, pid: number): void {
    const control = packet.readUInt8(3);
    if (pid === nullPid) return;
    const hasPayload = (control & 0x10) !== 0;
    const last = this.#counters.get(pid);
    let shift = this.#counterShifts.get(pid);
    if (shift === undefined) {
      const next = last === undefined ? control & 15 : (last + (hasPayload ? 1 : 0)) & 15;
      shift = (next - (control & 15)) & 15;
      this.#counterShifts.set(pid, shift);
    }
    const counter = ((control & 15) + shift) & 15;
    packet.writeUInt8((control & 0xf0) | counter, 3);
    this.#counters.set(pid, counter);
  }

  /** The decode time at the start of a PES packet (2.4.3.7), in seconds by the source's clock. */
  #decodeTime(packet: Buffer, pid: number, isPreview: boolean): number | null {
    const fields = timeFields(packet);
    const at = fields.at(-1);
    if (at === undefined) return null;
    const raw = readTime(packet, at);
    const near = this.#clocks.get(pid) ?? this.#lastClock ?? raw;
    const step = modulo(raw - modulo(near, clockSpan) + clockSpan / 2, clockSpan) - clockSpan / 2;
    const clock = near + step;
    if (this.#startSeconds === null) {
      const [first = at] = fields;
      this.#startSeconds = (clock + modulo(readTime(packet, first) - raw, clockSpan)) / clockRate;
    }
    if (!isPreview) {
      this.#clocks.set(pid, clock);
      this.#lastClock = clock;
    }
    return clock / clockRate;
  }

  /** Follows the program association and map tables, to see where a track changes its PID. */
  #readTables(packet: Buffer): void {
    const pid = pidOf(packet);
    const isMap = this.#pmtPids.has(pid);
    if (pid !== patPid && !isMap) return;
    const section = sectionOf(packet);
    if (section === null) return;
    if (pid === patPid) this.#pmtPids = readPrograms(section);
    else this.#readMap(readElementaries(section));
  }

  #readMap(streams: readonly Elementary[]): void {
    if (this.#tracks === null) {
      this.#tracks = streams;
      return;
    }
    const tracks = this.#tracks;
    const isSame = streams.every(({ pid, type }) =>
      tracks.some((track) => track.pid === pid && track.type === type),
    );
    this.#renamed = new Map();
    if (isSame) return;
    if (isAddition(streams, tracks)) {
      this.#tracks = streams;
      return;
    }
    const free = [...tracks];
    for (const { pid, type } of streams) {
      const index = free.findIndex((track) => track.type === type);
      const [track] = index === -1 ? [] : free.splice(index, 1);
      const kind = kindOf(type);
      if (track === undefined && kind !== 'other' && tracks.some((other) => kindOf(other.type) === kind))
        throw notJoinable('changes its encoding in the middle');
      this.#renamed.set(pid, track?.pid ?? null);
    }
    // The tables at the beginning go on being true.
    this.#renamed.set(patPid, null);
    for (const pid of this.#pmtPids) this.#renamed.set(pid, null);
  }
}

function pidOf(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff;
}

/** Where the payload begins; the packet's size when there is none. */
function payloadStart(packet: Buffer): number {
  const control = packet.readUInt8(3);
  if ((control & 0x10) === 0) return packetSize;
  return (control & 0x20) === 0 ? 4 : Math.min(packetSize, 5 + packet.readUInt8(4));
}

/** Positions of the presentation and the decode time in a packet that has them, in this order. */
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

/** Adds to the presentation and decode times, and to the program clock reference (2.4.3.4). */
function moveTimes(packet: Buffer, ticks: number): void {
  const control = packet.readUInt8(3);
  const hasClock = (control & 0x20) !== 0 && packet.readUInt8(4) >= 7 && (packet.readUInt8(5) & 0x10) !== 0;
  if (hasClock) {
    const base = packet.readUInt32BE(6) * 2 + (packet.readUInt8(10) >> 7);
    const moved = modulo(base + ticks, clockSpan);
    packet.writeUInt32BE(Math.floor(moved / 2), 6);
    packet.writeUInt8((packet.readUInt8(10) & 0x7f) | ((moved % 2) << 7), 10);
  }
  for (const at of timeFields(packet)) writeTime(packet, at, modulo(readTime(packet, at) + ticks, clockSpan));
}

/** The section that begins and ends in this packet; null for all others. */
function sectionOf(packet: Buffer): Buffer | null {
  if ((packet.readUInt8(1) & 0x40) === 0) return null;
  const payload = payloadStart(packet);
  if (payload >= packetSize) return null;
  const start = payload + 1 + packet.readUInt8(payload);
  if (start + 3 > packetSize) return null;
  const end = start + 3 + (packet.readUInt16BE(start + 1) & 0xfff);
  // Four bytes of checksum at the end.
  return end > packetSize || end < start + 12 ? null : packet.subarray(start, end - 4);
}

function readPrograms(section: Buffer): Set<number> {
  const pids = new Set<number>();
  if (section.readUInt8(0) !== 0) return pids;
  for (let at = 8; at + 4 <= section.length; at += 4) {
    if (section.readUInt16BE(at) !== 0) pids.add(section.readUInt16BE(at + 2) & 0x1fff);
  }
  return pids;
}

function readElementaries(section: Buffer): Elementary[] {
  const streams: Elementary[] = [];
  if (section.readUInt8(0) !== 2 || section.length < 12) return streams;
  let at = 12 + (section.readUInt16BE(10) & 0xfff);
  while (at + 5 <= section.length) {
    streams.push({ type: section.readUInt8(at), pid: section.readUInt16BE(at + 1) & 0x1fff });
    at += 5 + (section.readUInt16BE(at + 3) & 0xfff);
  }
  return streams;
}

/** Stream types (table 2-34): MPEG and H.26x video; MPEG, ADTS, private, LATM, AC-3 and E-AC-3 audio. */
const videoTypes = new Set([0x01, 0x02, 0x10, 0x1b, 0x24]);
const audioTypes = new Set([0x03, 0x04, 0x06, 0x0f, 0x11, 0x81, 0x87]);

function kindOf(type: number): 'video' | 'audio' | 'other' {
  if (videoTypes.has(type)) return 'video';
  return audioTypes.has(type) ? 'audio' : 'other';
}

/** Whether the tracks there were are still the same, and one of another kind has come: sound that begins late. */
function isAddition(streams: readonly Elementary[], tracks: readonly Elementary[]): boolean {
  const isKept = tracks.every(({ pid, type }) =>
    streams.some((stream) => stream.pid === pid && stream.type === type),
  );
  const added = streams.filter(({ pid }) => !tracks.some((track) => track.pid === pid));
  return isKept && added.every(({ type }) => !tracks.some((track) => kindOf(track.type) === kindOf(type)));
}

function modulo(value: number, span: number): number {
  return ((value % span) + span) % span;
}
