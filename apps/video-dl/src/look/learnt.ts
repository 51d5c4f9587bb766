import { isDeepStrictEqual } from 'node:util';
import { DomainError } from '@media-services/http-common';
import { LRUCache } from 'lru-cache';
import type { PictureSize } from '../formats/mpeg-ts/picture-size.js';

/** What only a delivery shows about a source. */
export type Learnt =
  /** A track can't be copied, because its parameters change or show too late. `size` is the largest of several. */
  | { readonly kind: 'changes'; readonly track: 'video' | 'audio'; readonly size?: PictureSize }
  /** It is bare audio whose sample rate changes, so times that ffmpeg counts at one rate are wrong. */
  | { readonly kind: 'untimed_audio' }
  /** It states audio and has none. */
  | { readonly kind: 'no_audio' }
  /** Its audio begins at this byte and time. */
  | { readonly kind: 'late_audio'; readonly at: number; readonly seconds: number }
  /** Its segments or its index lead to no key frame before a clip. */
  | { readonly kind: 'no_key_frame' }
  /** The length or the index that it states. */
  | { readonly kind: 'wrong_length' | 'wrong_index' };

/** The media differ from what was known about them. The next request knows more. */
export class UnexpectedMediaError extends DomainError {
  override readonly name = 'UnexpectedMediaError';
  readonly learnt: Learnt;

  constructor(learnt: Learnt, what: string, options?: { readonly cause?: unknown }) {
    super('upstream_error', `${what} Try again.`, options);
    this.learnt = learnt;
  }
}

/** A video of a page. */
export interface Page {
  readonly url: string;
  readonly item?: number | undefined;
}

const maxFormats = 10_000;
/** A site may mend its media. */
const keptMs = 60 * 60 * 1000;

/**
 * What deliveries have shown, by page and format. It outlives the extraction. A stream has the format of its video
 * and of its audio, or of a file with both.
 */
export class Lessons {
  readonly #byFormat = new LRUCache<string, readonly Learnt[]>({ max: maxFormats, ttl: keptMs });

  of(page: Page, formatIds: readonly string[]): readonly Learnt[] {
    return formatIds.flatMap((id) => this.#byFormat.get(keyOf(page, id)) ?? []);
  }

  /** Keeps what a failed delivery has shown for the next request. */
  learn(page: Page, formatIds: readonly string[], error: unknown): void {
    if (!(error instanceof UnexpectedMediaError)) return;
    const { learnt } = error;
    const isAboutVideo =
      learnt.kind === 'no_key_frame' || (learnt.kind === 'changes' && learnt.track === 'video');
    const key = keyOf(page, (isAboutVideo ? formatIds[0] : formatIds.at(-1)) ?? '');
    const others = (this.#byFormat.get(key) ?? []).filter((known) => !isDeepStrictEqual(known, learnt));
    this.#byFormat.set(key, [...others, learnt]);
  }
}

function keyOf({ url, item }: Page, formatId: string): string {
  return JSON.stringify([url, item, formatId]);
}
