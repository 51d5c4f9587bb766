import { DomainError } from '@media-services/http-common';
import { type LaidOut, Layouts } from '../look/layouts.js';
import { Lessons, type Page } from '../look/learnt.js';
import {
  type Facts,
  factsFrom,
  Looker,
  noFacts,
  type LookerOptions,
  type LookOptions,
} from '../look/look.js';
import type { SourceHead } from '../look/source-heads.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { TextTrack } from '../formats/mp4/text-track.js';
import type { Extraction } from '../extract/types.js';
import { conversionOf, withinWindow } from '../plan/conversion.js';
import { planTarget, type Plan, type PlanSettings } from '../plan/plan.js';
import { withFacts } from '../plan/with-facts.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { StreamRequest } from './job.js';
import { isPlanned, remuxedFileOf, type RemuxedFile } from './remuxed-file.js';
import { siteFileOf, type SiteFile } from './site-file.js';
import type { WindowFile } from './window-input.js';

export interface WaysOptions extends LookerOptions {
  readonly parsers: Pick<ParserPool, 'forClient'>;
  readonly planSettings: PlanSettings;
}

/** What a plan is made from. */
export type Wish = Page &
  Pick<StreamRequest, 'target' | 'clip'> & {
    readonly extraction: Extraction;
    /** Subtitles to add. */
    readonly texts?: readonly TextTrack[];
  };

/** A final plan, and how it is delivered. `file` is absent if its size is only known once it is made. */
export type Way =
  | { readonly kind: 'pass on'; readonly plan: Plan; readonly file: SiteFile }
  | { readonly kind: 'remux'; readonly plan: Plan; readonly file: RemuxedFile }
  | { readonly kind: 'convert'; readonly plan: Plan; readonly window?: WindowFile; readonly file?: never }
  /** From a single response, which is still to be looked at. */
  | { readonly kind: 'one shot'; readonly plan: Plan; readonly source: MediaSource; readonly file?: never };

/** How long `/api/info` waits for the header of a file. */
const maxInspectMs = 5_000;

/** Decides how a stream is delivered. */
export class Ways {
  readonly looker: Looker;
  readonly lessons = new Lessons();
  readonly #options: WaysOptions;
  readonly #layouts: Layouts;

  constructor(options: WaysOptions) {
    this.#options = options;
    this.looker = new Looker(options);
    this.#layouts = new Layouts(options.heads, options.parsers);
  }

  /** @param facts if absent, the plan relies on the page alone @throws DomainError if the page has nothing for the target */
  plan({ extraction, target, clip, texts }: Wish, facts = noFacts): Plan {
    return planTarget(withFacts(extraction, facts), target, this.#options.planSettings, clip, texts);
  }

  /** Looks at the sources of a stream, then plans it. @throws DomainError, the signal's reason */
  async decide(wish: Wish, options: LookOptions): Promise<Way> {
    const facts = await this.looker.look(this.plan(wish), options);
    const plan = this.plan(wish, facts);
    return this.#wayOf(wish, plan, facts, await this.#layOut(wish, plan, facts, options));
  }

  /**
   * How `/api/info` expects a stream to be delivered. Relies on the page if a file's header can't be read;
   * the stream request then reports why.
   *
   * @throws DomainError if the page has nothing for the target; the signal's reason
   */
  async prospect(wish: Wish, given: Omit<LookOptions, 'depth'>): Promise<Way> {
    // Also used below: Node 20 forgets a timeout to which only `AbortSignal.any` refers.
    const deadline = AbortSignal.timeout(maxInspectMs);
    const signal = AbortSignal.any([given.signal, deadline]);
    const options = { ...given, signal, depth: 'one-file' } as const;
    const unlessUnreadable = (error: unknown): null => {
      given.signal.throwIfAborted();
      if (error instanceof DomainError || deadline.aborted) return null;
      throw error;
    };
    const facts = (await this.looker.look(this.plan(wish), options).catch(unlessUnreadable)) ?? noFacts;
    const plan = this.plan(wish, facts);
    const laidOut = await this.#layOut(wish, plan, facts, options).catch(unlessUnreadable);
    return this.#wayOf(wish, plan, facts, laidOut);
  }

  /** Null if ffmpeg has to read whole files, or if one is passed on. */
  async #layOut(page: Page, plan: Plan, facts: Facts, options: LookOptions): Promise<LaidOut | null> {
    const { inputs, window } = plan;
    const learnt = new Set(this.lessons.of(page, plan.formatIds).map(({ kind }) => kind));
    if (facts.size === 0 || this.looker.isOneShot(inputs) || learnt.has('wrong_index')) return null;
    if (plan.mayNeedOnlyHeader && siteFileOf(plan, facts) === undefined)
      return this.#layouts.of(inputs, plan, options);
    // A player's window shows whether there is a stream at all.
    const isShown = options.depth === 'all' || window?.readers.includes('decoder') === false;
    if (window === null || !isShown || learnt.has('no_key_frame')) return null;
    return this.#layouts.window(inputs, window, plan, options);
  }

  /** @throws DomainError if no plan can help */
  #wayOf(page: Page, whole: Plan, facts: Facts, laidOut: LaidOut | null): Way {
    const [source] = whole.inputs;
    if (source !== undefined && this.looker.isOneShot(whole.inputs))
      return { kind: 'one shot', plan: whole, source };
    const siteFile = siteFileOf(whole, facts);
    if (siteFile !== undefined) return { kind: 'pass on', plan: whole, file: siteFile };
    const learnt = this.lessons.of(page, whole.formatIds);
    if (laidOut === null) return { kind: 'convert', plan: conversionOf(whole, learnt) };
    const plan = whole.window === null ? whole : withinWindow(whole, laidOut);
    const file = remuxedFileOf(plan, laidOut);
    if (laidOut.for === 'decoder') {
      const window = { file, startSeconds: laidOut.startSeconds };
      return { kind: 'convert', plan: conversionOf(plan, learnt), window };
    }
    if (isPlanned(laidOut.layout, plan)) return { kind: 'remux', plan, file };
    return { kind: 'convert', plan: conversionOf(whole, learnt) };
  }

  /** The way of a file that differs with each response, from the only one. @throws DomainError */
  findOneShot(wish: Wish, head: SourceHead): Way {
    const facts = new Map([[head.source, factsFrom(head)]]);
    const plan = this.plan(wish, facts);
    const file = siteFileOf(plan, facts);
    if (file !== undefined) return { kind: 'pass on', plan, file: { ...file, etag: null, hasRanges: false } };
    return { kind: 'convert', plan: conversionOf(plan, this.lessons.of(wish, plan.formatIds)) };
  }
}
