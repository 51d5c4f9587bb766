import { DomainError } from '@media-services/http-common';
import type { Page } from '../look/learnt.js';
import {
  type Facts,
  factsFrom,
  type Looked,
  Looker,
  type LookerOptions,
  type LookOptions,
} from '../look/look.js';
import type { SourceHead } from '../look/source-heads.js';
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
  readonly planSettings: PlanSettings;
}

/** What a plan is made from. */
export type Wish = Page &
  Pick<StreamRequest, 'target' | 'clip'> & {
    readonly extraction: Extraction;
    /** Subtitles to add. */
    readonly texts?: readonly TextTrack[];
  };

/** A final plan, and how it is delivered. */
export type Way =
  | { readonly kind: 'pass on'; readonly plan: Plan; readonly file: SiteFile }
  | { readonly kind: 'remux'; readonly plan: Plan; readonly file: RemuxedFile }
  | { readonly kind: 'convert'; readonly plan: Plan; readonly window?: WindowFile }
  /** From a single response, which is still to be looked at. */
  | { readonly kind: 'one shot'; readonly plan: Plan; readonly source: MediaSource };

/** What `/api/info` says about a stream. */
export interface Prospect {
  readonly plan: Plan;
  /** Null if its size is only known once it is made. */
  readonly file: SiteFile | RemuxedFile | null;
  /** Whether it is the site's own file, unchanged. */
  readonly isSiteFile: boolean;
}

/** How long `/api/info` waits for the header of a file. */
const maxInspectMs = 5_000;

/** Decides how a stream is delivered. */
export class Ways {
  readonly looker: Looker;
  readonly #options: WaysOptions;

  constructor(options: WaysOptions) {
    this.#options = options;
    this.looker = new Looker(options);
  }

  /** @param facts absent to take the page's word @throws DomainError if the page has nothing for the target */
  plan({ extraction, target, clip, texts }: Wish, facts: Facts = new Map()): Plan {
    return planTarget(withFacts(extraction, facts), target, this.#options.planSettings, clip, texts);
  }

  /** Looks at the sources of a stream, then plans it. @throws DomainError, the signal's reason */
  async decide(wish: Wish, options: LookOptions): Promise<Way> {
    return this.find(wish, await this.looker.look(wish, this.plan(wish), options));
  }

  /** @throws DomainError if no plan can help */
  find(wish: Wish, looked: Looked): Way {
    const plan = this.plan(wish, looked.facts);
    const [source] = plan.inputs;
    if (source !== undefined && this.looker.isOneShot(plan.inputs)) return { kind: 'one shot', plan, source };
    const siteFile = siteFileOf(plan, looked.facts);
    if (siteFile !== undefined) return { kind: 'pass on', plan, file: siteFile };
    const inWindow = this.#inWindow(plan, looked);
    if (inWindow !== undefined) return inWindow;
    const { laidOut, learnt } = looked;
    if (laidOut !== null && plan.mayNeedOnlyHeader && isPlanned(laidOut.layout, plan))
      return { kind: 'remux', plan, file: remuxedFileOf(plan, laidOut) };
    return { kind: 'convert', plan: conversionOf(plan, learnt) };
  }

  /**
   * The plan of a stream, and the file that it will be if its size is known before it is made. Follows the
   * page's word if a file's header can't be read; the stream request then reports why.
   *
   * @throws DomainError if the page has nothing for the target; the signal's reason
   */
  async prospect(wish: Wish, given: Omit<LookOptions, 'depth'>): Promise<Prospect> {
    const signal = AbortSignal.any([given.signal, AbortSignal.timeout(maxInspectMs)]);
    const options = { ...given, signal, depth: 'one-file' } as const;
    const draft = this.plan(wish);
    const looked = await this.looker.look(wish, draft, options).catch((error: unknown) => {
      given.signal.throwIfAborted();
      if (error instanceof DomainError || signal.aborted) return this.looker.know(wish, draft);
      throw error;
    });
    const way = this.find(wish, looked);
    return { plan: way.plan, file: 'file' in way ? way.file : null, isSiteFile: way.kind === 'pass on' };
  }

  #inWindow(whole: Plan, { window, learnt }: Looked): Way | undefined {
    if (window === null || whole.window?.readers.includes(window.for) !== true) return undefined;
    const plan = withinWindow(whole, window);
    const file = remuxedFileOf(plan, window);
    if (window.for === 'player')
      return isPlanned(window.layout, plan) ? { kind: 'remux', plan, file } : undefined;
    const { startSeconds } = window;
    return { kind: 'convert', plan: conversionOf(plan, learnt), window: { file, startSeconds } };
  }

  /** The way of a file that differs with each response, from the only one. @throws DomainError */
  findOneShot(wish: Wish, head: SourceHead): Way {
    const facts = new Map([[head.source, factsFrom(head)]]);
    const plan = this.plan(wish, facts);
    const file = siteFileOf(plan, facts);
    if (file !== undefined) return { kind: 'pass on', plan, file: { ...file, etag: null, hasRanges: false } };
    return { kind: 'convert', plan: conversionOf(plan, this.looker.know(wish, plan).learnt) };
  }
}
