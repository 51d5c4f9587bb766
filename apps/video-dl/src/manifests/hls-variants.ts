import { invalid } from '../formats/rejection.js';
import { readCount, resolveUrl } from './segment-table.js';

type Attributes = ReadonlyMap<string, string>;

const maxVariants = 200;

/** The variants and renditions of a master playlist. */
export class HlsVariants {
  readonly #variants: { readonly uri: string; readonly attributes: Attributes }[] = [];
  readonly #renditions: Attributes[] = [];

  add(attributes: Attributes, uri: string): void {
    if (this.#variants.length >= maxVariants) throw invalid('sent a playlist with too many variants');
    this.#variants.push({ uri, attributes });
  }

  addRendition(attributes: Attributes): void {
    if (attributes.get('TYPE') !== 'AUDIO') return;
    if (this.#renditions.length >= maxVariants) throw invalid('sent a playlist with too many renditions');
    this.#renditions.push(attributes);
  }

  /** The largest variant up to 1080p with the audio of its group; null if none is listed. @throws Rejection */
  best(baseUrl: string): { url: string; audioUrl: string | null } | null {
    const fitting = this.#variants.filter(({ attributes }) => smallerSideOf(attributes) <= 1080);
    const [best] = (fitting.length > 0 ? fitting : this.#variants).toSorted(
      (a, b) => bandwidthOf(b.attributes) - bandwidthOf(a.attributes),
    );
    if (best === undefined) return null;
    const groupId = best.attributes.get('AUDIO') ?? null;
    const group = this.#renditions.filter((rendition) => rendition.get('GROUP-ID') === groupId);
    const played =
      group.find((rendition) => rendition.get('DEFAULT') === 'YES') ??
      group.find((rendition) => rendition.get('CHARACTERISTICS')?.includes('describes-video') !== true) ??
      group[0];
    const uri = played?.get('URI');
    const url = resolveUrl(best.uri, baseUrl);
    const audioUrl = uri === undefined ? null : resolveUrl(uri, baseUrl);
    return { url, audioUrl: audioUrl === url ? null : audioUrl };
  }
}

/** 0 if not stated. */
function smallerSideOf(attributes: Attributes): number {
  return Math.min(...(attributes.get('RESOLUTION') ?? '').split('x', 2).map(Number));
}

function bandwidthOf(attributes: Attributes): number {
  return readCount(attributes.get('BANDWIDTH'));
}
