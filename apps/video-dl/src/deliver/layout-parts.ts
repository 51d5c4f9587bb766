import type { Layout } from '../formats/mp4/remux/layout.js';
import type { Span } from '../formats/mp4/remux/sample-tables.js';
import type { ByteRange } from '../upstream/byte-range.js';

interface Part {
  /** Counted from 0, in the whole output. */
  readonly number: number;
  readonly source: number;
  /** In the source. */
  readonly offset: number;
  readonly bytes: number;
  /** In the output. */
  readonly position: number;
  /** Whether it is read to its end. */
  readonly isWhole: boolean;
}

/** The parts to read for a range of the output. Fragments must be read from their beginning. */
export function* partsBetween(layout: Layout, start: number, end: number): Generator<Part, void, void> {
  let position = layout.header.length;
  for (const [number, source] of layout.sources.entries()) {
    const [offset = 0, length = 0] = [layout.offsets[number], layout.lengths[number]];
    const skipped = layout.fragmentTracks === null ? Math.max(0, start - position) : 0;
    const last = Math.min(length, end - position);
    if (position >= end) return;
    if (position + length > start)
      yield {
        number,
        source,
        offset: offset + skipped,
        bytes: last - skipped,
        position: position + skipped,
        isWhole: last === length,
      };
    position += length;
  }
}

/** What to read of each source for a range of the output, in the source's order. */
export function rangesOfSources(layout: Layout, start: number, end: number): Map<number, ByteRange[]> {
  const parts = new Map<number, Span[]>();
  for (const { source, offset, bytes } of partsBetween(layout, start, end)) {
    const spans = parts.get(source) ?? [];
    spans.push({ start: offset, end: offset + bytes });
    parts.set(source, spans);
  }
  return new Map([...parts].map(([source, spans]) => [source, joined(spans)]));
}

/** A request costs about as much time as this many bytes. */
const minGapBytes = 256 * 1024;
const maxRanges = 4;

/** Few ranges that contain all parts, without the largest gaps between them. */
function joined(spans: readonly Span[]): ByteRange[] {
  const gaps = spans
    .map(({ start }, index) => ({ index, bytes: start - (spans[index - 1]?.end ?? start) }))
    .filter(({ bytes }) => bytes >= minGapBytes)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, maxRanges - 1)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
  const starts = [0, ...gaps];
  return starts.flatMap((from, index) => {
    const part = spans.slice(from, starts[index + 1]);
    const [first, last] = [part[0], part.at(-1)];
    return first === undefined || last === undefined ? [] : [{ start: first.start, end: last.end - 1 }];
  });
}
