import { FirstFrame } from '../../../src/formats/mpeg-ts/first-frame.js';
import { packet } from '../../parser-process/smallest-units.js';

const h264 = 0x1b;
const hevc = 0x24;
const start = [0, 0, 1];

describe('the first frame of a transport stream', () => {
  it.each([
    ['is a key frame', h264, [...start, 0x67, ...start, 0x65], 'key'],
    ['is a point of recovery', h264, [...start, 6, 1, 1, 0, 6, 1, 0x80, ...start, 0x41], 'recovery'],
    ['needs earlier frames', h264, [...start, 6, 1, 1, 0, ...start, 0x41], 'other'],
    ['is a key frame of HEVC', hevc, [...start, 0x40, 1, ...start, 0x26], 'key'],
    ['needs earlier frames of HEVC', hevc, [...start, 0x02], 'other'],
    ['has shown only parameters so far', h264, [...start, 0x67], null],
    ['is of another encoding', 0x02, [...start, 0x65], null],
  ])('%s', (_what, type, units, kind) => {
    const frame = new FirstFrame();
    frame.push(packet.frame(units), type);
    expect(frame.kind).toBe(kind);
  });

  it('is found across two packets', () => {
    const frame = new FirstFrame();
    const first = packet.frame([]);
    first.set([0, 0], first.length - 2);
    frame.push(first, h264);
    frame.push(packet.restOfFrame([1, 0x65]), h264);
    expect(frame.kind).toBe('key');
  });

  it('needs earlier frames if the next one begins before it has shown itself', () => {
    const frame = new FirstFrame();
    frame.push(packet.restOfFrame([...start, 0x65]), h264);
    frame.push(packet.frame([]), h264);
    frame.push(packet.frame([...start, 0x65]), h264);
    expect(frame.kind).toBe('other');
  });
});
