import { withProbe } from '../extract/probed-details.js';
import type { Extraction, Format } from '../extract/types.js';
import type { Facts, SourceFacts } from '../look/look.js';
import { perTarget } from '../targets.js';

/** The extraction with what its files really are in place of what the page says about them. */
export function withFacts(extraction: Extraction, facts: Facts): Extraction {
  if (facts.size === 0) return extraction;
  const correct = (format: Format): Format => {
    const { streams = null, head } = facts.get(format.source) ?? {};
    return streams === null
      ? format
      : withProbe(format, { streams: [...streams], sizeBytes: head?.totalBytes ?? null });
  };
  const seconds = [...facts.values()].map(exactSeconds);
  const isExact = seconds.every((length) => length !== null);
  return {
    ...extraction,
    ...(isExact && { durationSeconds: Math.max(...seconds.map(Number)), durationSource: 'media' }),
    selections: perTarget((target) => extraction.selections[target].map(correct)),
  };
}

/** The length that a file's header states; null if that may be wrong, or if we don't read it. */
function exactSeconds({ head: { probe, correctedLength } }: SourceFacts): number | null {
  return correctedLength === null ? (probe?.durationSeconds ?? null) : null;
}
