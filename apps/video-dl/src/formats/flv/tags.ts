import { UnitCheck } from '../structure-check.js';

const fileHeaderBytes = 9;
const tagHeaderBytes = 11;
const tagSizeBytes = 4;
const audioTag = 8;
const videoTag = 9;
/** Longer ones are not compared. */
const maxConfigurationBytes = 4096;
/** Before the configuration: the codec and the type of packet. */
const audioHeadBytes = 2;
const videoHeadBytes = 5;

/** Watches the tags of an FLV for decoder configurations that differ from the first. */
export class FlvTags extends UnitCheck {
  readonly changed = new Set<'video' | 'audio'>();
  readonly #configurations = new Map<number, Buffer>();
  #hasHeader = false;

  override canSkip(): boolean {
    return false;
  }

  protected begin(bytes: Buffer, at: number): number | null {
    if (bytes.length - at < tagHeaderBytes + videoHeadBytes) return null;
    if (!this.#hasHeader) {
      this.#hasHeader = true;
      this.left = Math.max(fileHeaderBytes, bytes.readUInt32BE(at + 5)) + tagSizeBytes - fileHeaderBytes;
      return fileHeaderBytes;
    }
    const type = bytes.readUInt8(at) & 31;
    const size = bytes.readUIntBE(at + 1, 3);
    const start = at + tagHeaderBytes;
    const headBytes = configurationStart(type, bytes, start);
    if (headBytes !== null && size > headBytes && size <= maxConfigurationBytes) {
      if (bytes.length < start + size) return null;
      this.#compare(type, bytes.subarray(start + headBytes, start + size));
    }
    this.left = size + tagSizeBytes;
    return tagHeaderBytes;
  }

  #compare(type: number, configuration: Buffer): void {
    const first = this.#configurations.get(type);
    if (first === undefined) this.#configurations.set(type, Buffer.from(configuration));
    else if (!first.equals(configuration)) this.changed.add(type === videoTag ? 'video' : 'audio');
  }
}

/** Where in a tag the configuration of its decoder starts; null if it has none. */
function configurationStart(type: number, bytes: Buffer, at: number): number | null {
  const first = bytes.readUInt8(at);
  const second = bytes.readUInt8(at + 1);
  if (type === audioTag) return first >> 4 === 10 && second === 0 ? audioHeadBytes : null;
  if (type !== videoTag) return null;
  // Enhanced RTMP states a codec of four letters instead of a number.
  if ((first & 0x80) !== 0) return (first & 15) === 0 ? videoHeadBytes : null;
  // H.264, and HEVC by its usual number.
  return [7, 12].includes(first & 15) && second === 0 ? videoHeadBytes : null;
}
