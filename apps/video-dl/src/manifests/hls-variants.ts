import { invalid, notJoinable } from '../formats/rejection.js';
import { readWhole } from './hls-attributes.js';
import { resolveUrl } from './segment-table.js';

interface Variant {
  readonly uri: string;
  /** Bits per second. */
  readonly bandwidth: number;
  /** Pixels of the smaller side; null if not stated. */
  readonly smallerSide: number | null;
  readonly audioGroup: string | null;
}

interface Rendition {
  readonly group: string;
  readonly uri: string | null;
  readonly isDefault: boolean;
  readonly describesVideo: boolean;
}

const maxVariants = 200;

/** The variants and renditions of a master playlist. */
export class HlsVariants {
  readonly #variants: Variant[] = [];
  readonly #renditions: Rendition[] = [];

  get areListed(): boolean {
    return this.#variants.length > 0;
  }

  add(attributes: ReadonlyMap<string, string>, uri: string): void {
    if (this.#variants.length >= maxVariants) throw invalid('sent a playlist with too many variants');
    const [width, height] = (attributes.get('RESOLUTION') ?? '').split('x', 2).map(Number);
    this.#variants.push({
      uri,
      bandwidth: readWhole(attributes.get('BANDWIDTH') ?? '0'),
      smallerSide: width && height ? Math.min(width, height) : null,
      audioGroup: attributes.get('AUDIO') ?? null,
    });
  }

  addRendition(attributes: ReadonlyMap<string, string>): void {
    if (attributes.get('TYPE') !== 'AUDIO') return;
    if (this.#renditions.length >= maxVariants) throw invalid('sent a playlist with too many renditions');
    this.#renditions.push({
      group: attributes.get('GROUP-ID') ?? '',
      uri: attributes.get('URI') ?? null,
      isDefault: attributes.get('DEFAULT') === 'YES',
      describesVideo: attributes.get('CHARACTERISTICS')?.includes('describes-video') === true,
    });
  }

  /** The largest variant up to 1080p with the audio of its group. @throws Rejection */
  best(baseUrl: string): { url: string; audioUrl: string | null } {
    const fitting = this.#variants.filter(({ smallerSide }) => smallerSide === null || smallerSide <= 1080);
    const [best] = (fitting.length > 0 ? fitting : this.#variants).toSorted(
      (a, b) => b.bandwidth - a.bandwidth,
    );
    if (best === undefined) throw notJoinable('has no variants');
    const group = this.#renditions.filter((rendition) => rendition.group === best.audioGroup);
    const played =
      group.find(({ isDefault }) => isDefault) ??
      group.find(({ describesVideo }) => !describesVideo) ??
      group[0];
    const url = resolveUrl(best.uri, baseUrl);
    const audioUrl = played?.uri == null ? null : resolveUrl(played.uri, baseUrl);
    return { url, audioUrl: audioUrl === url ? null : audioUrl };
  }
}
