import { crc32 } from '../crc32.js';
import { FormatWatch, readAdtsFrame } from '../mpeg-audio/frames.js';
import { notJoinable } from '../rejection.js';
import { isSameSize, type PictureSize, pictureSizeIn } from './picture-size.js';

export const packetSize = 188;
const patPid = 0;
const lastReservedPid = 0x1f;
const maxSizes = 16;

/** An elementary stream in the program map (ISO 13818-1, 2.4.4.8). */
export interface Elementary {
  readonly type: number;
  readonly pid: number;
}

/** Follows the tables of a transport stream (ISO 13818-1), and keeps the PID of a track that changes it. */
export class TransportTracks {
  tracks: readonly Elementary[] | null = null;
  /** PIDs of the program maps. */
  #maps: ReadonlySet<number> = new Set();
  /** Maps a PID of the input to its PID in the output; null drops its packets. */
  #renamed: ReadonlyMap<number, number | null> = new Map();
  changesAudio = false;
  /** Whether only later tables list audio. */
  addsAudio = false;
  /** Whether that audio is left out, because other tracks change their PIDs at the same time. */
  omitsAudio = false;
  /** Whether a frame of audio has begun: its tables may list audio that never comes. */
  hasAudio = false;
  /** The sizes of its H.264 or HEVC, each once. */
  readonly pictureSizes: PictureSize[] = [];
  /** Sample rate and channels of the main audio, if that is AAC. */
  readonly #format = new FormatWatch();

  get audioFormat(): number | undefined {
    return this.#format.first;
  }

  /** Whether a track has another PID than at the beginning. */
  get isMoved(): boolean {
    return [...this.#renamed].some(([pid, first]) => first !== null && first !== pid);
  }

  /** @returns the PID in the output; null for a packet to drop */
  outputPid(pid: number): number | null {
    const renamed = this.#renamed.get(pid);
    return renamed === undefined ? pid : renamed;
  }

  #isTable(pid: number): boolean {
    return pid === patPid || this.#maps.has(pid);
  }

  /** Reads a packet at which a table or a frame starts. @throws Rejection if the encoding changes */
  read(packet: Buffer): void {
    const pid = pidOf(packet);
    this.hasAudio ||= this.#mayBeAudio(pid);
    const isDamaged = (packet.readUInt8(1) & 0x80) !== 0;
    if (isDamaged) return;
    if (this.#isTable(pid)) this.#readTable(packet, pid);
    else this.#readFormat(packet, pid);
  }

  #mayBeAudio(inputPid: number): boolean {
    if (this.tracks === null) return inputPid > lastReservedPid && !this.#isTable(inputPid);
    const pid = this.outputPid(inputPid);
    return this.tracks.some((track) => track.pid === pid && kindOf(track.type) === 'audio');
  }

  #readTable(packet: Buffer, pid: number): void {
    const section = sectionOf(packet);
    if (section === null) return;
    if (pid === patPid) this.#maps = readPrograms(section) ?? this.#maps;
    // The maps of several programs describe different tracks.
    else if (this.#maps.size === 1) this.#readMap(readElementaries(section));
  }

  #readMap(streams: readonly Elementary[]): void {
    const { tracks } = this;
    if (streams.length === 0) return;
    if (tracks === null) {
      this.tracks = streams;
      return;
    }
    const isSame = streams.every(({ pid, type }) =>
      tracks.some((track) => track.pid === pid && track.type === type),
    );
    if (isSame) this.#renamed = new Map();
    else if (isAddition(streams, tracks)) {
      this.tracks = streams;
      this.#renamed = new Map();
      this.addsAudio ||= isAudioNew(streams, tracks);
    } else {
      const renamed = renames(streams, tracks);
      // The tables at the beginning of the output stay valid, so later ones are dropped.
      for (const pid of [patPid, ...this.#maps]) renamed.set(pid, null);
      this.#renamed = renamed;
      this.omitsAudio ||= isAudioNew(streams, tracks);
    }
  }

  #readFormat(packet: Buffer, inputPid: number): void {
    const pid = this.outputPid(inputPid);
    const [video, audio] = [this.#main('video'), this.#main('audio')];
    if (video?.pid === pid) this.#readSize(packet, video.type);
    if (audio?.type !== adtsType || audio.pid !== pid) return;
    // A PES packet with AAC starts with an ADTS header.
    const start = payloadStart(packet);
    if (start + 9 > packetSize || packet.readUIntBE(start, 3) !== 1) return;
    const at = start + 9 + packet.readUInt8(start + 8);
    const frame = at + 7 > packetSize ? undefined : readAdtsFrame(packet, at);
    if (frame !== undefined) this.changesAudio ||= this.#format.hasChanged(frame.format);
  }

  #readSize(packet: Buffer, type: number): void {
    const size = pictureSizeIn(packet.subarray(payloadStart(packet)), type);
    const isNew = size !== undefined && this.pictureSizes.every((known) => !isSameSize(known, size));
    if (isNew && this.pictureSizes.length < maxSizes) this.pictureSizes.push(size);
  }

  /** The one that is sent, like in ffmpeg. */
  #main(kind: 'video' | 'audio'): Elementary | undefined {
    return this.tracks?.find(({ type }) => kindOf(type) === kind);
  }
}

/** @throws Rejection if the first track of a kind changes its encoding */
function renames(streams: readonly Elementary[], tracks: readonly Elementary[]): Map<number, number | null> {
  const renamed = new Map<number, number | null>();
  const free = [...tracks];
  const take = ({ type, pid }: Elementary, isPidKept: boolean): void => {
    const index = free.findIndex((track) => track.type === type && (!isPidKept || track.pid === pid));
    const [track] = index === -1 ? [] : free.splice(index, 1);
    if (track !== undefined) renamed.set(pid, track.pid);
  };
  for (const stream of streams) take(stream, true);
  for (const stream of streams) if (!renamed.has(stream.pid)) take(stream, false);
  for (const { type, pid } of streams) {
    if (renamed.has(pid)) continue;
    const main = tracks.find((track) => kindOf(track.type) === kindOf(type));
    if (kindOf(type) !== 'other' && main !== undefined && free.includes(main))
      throw notJoinable('changes its encoding in the middle');
    renamed.set(pid, null);
  }
  return renamed;
}

/** Private data may be anything, so they don't count. */
function isAudioNew(streams: readonly Elementary[], tracks: readonly Elementary[]): boolean {
  const isListed = streams.some(({ type }) => type !== privateType && kindOf(type) === 'audio');
  return isListed && tracks.every(({ type }) => kindOf(type) !== 'audio');
}

export function pidOf(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff;
}

/** Offset of the payload; the packet size if the packet has no payload. */
export function payloadStart(packet: Buffer): number {
  const control = packet.readUInt8(3);
  if ((control & 0x10) === 0) return packetSize;
  return (control & 0x20) === 0 ? 4 : Math.min(packetSize, 5 + packet.readUInt8(4));
}

/** The section, if it starts and ends in this packet and is valid now. */
function sectionOf(packet: Buffer): Buffer | null {
  if ((packet.readUInt8(1) & 0x40) === 0) return null;
  const payload = payloadStart(packet);
  if (payload >= packetSize) return null;
  const start = payload + 1 + packet.readUInt8(payload);
  if (start + 3 > packetSize) return null;
  const end = start + 3 + (packet.readUInt16BE(start + 1) & 0xfff);
  if (end > packetSize || end < start + 12 || (packet.readUInt8(start + 5) & 1) === 0) return null;
  // The last four bytes are a checksum (annex A), which makes the one of the section 0.
  return crc32(packet.subarray(start, end), 0xffff_ffff) === 0 ? packet.subarray(start, end - 4) : null;
}

/** The PIDs of the program maps; null if the section lists none. */
function readPrograms(section: Buffer): ReadonlySet<number> | null {
  const pids = new Set<number>();
  if (section.readUInt8(0) !== 0) return null;
  for (let at = 8; at + 4 <= section.length; at += 4) {
    if (section.readUInt16BE(at) !== 0) pids.add(section.readUInt16BE(at + 2) & 0x1fff);
  }
  return pids.size > 0 ? pids : null;
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

const privateType = 0x06;
const adtsType = 0x0f;
/** Stream types (table 2-34): MPEG and H.26x video; MPEG, ADTS, private, LATM, AC-3 and E-AC-3 audio. */
const videoTypes = new Set([0x01, 0x02, 0x10, 0x1b, 0x24]);
const audioTypes = new Set([0x03, 0x04, privateType, adtsType, 0x11, 0x81, 0x87]);

export function kindOf(type: number): 'video' | 'audio' | 'other' {
  if (videoTypes.has(type)) return 'video';
  return audioTypes.has(type) ? 'audio' : 'other';
}

/** Whether all known tracks are still there and one of a new kind was added, such as audio that starts late. */
function isAddition(streams: readonly Elementary[], tracks: readonly Elementary[]): boolean {
  const isKept = tracks.every(({ pid, type }) =>
    streams.some((stream) => stream.pid === pid && stream.type === type),
  );
  const added = streams.filter(({ pid }) => !tracks.some((track) => track.pid === pid));
  return isKept && added.every(({ type }) => !tracks.some((track) => kindOf(track.type) === kindOf(type)));
}
