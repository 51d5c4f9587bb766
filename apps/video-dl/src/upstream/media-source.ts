/** One piece of a medium that is sent in pieces. */
export interface MediaFragment {
  readonly url: string;
}

/** Which format of which extraction a source is: by it a renewed one is found. */
export interface SourceOrigin {
  readonly formatId: string;
  /** Milliseconds since the epoch. */
  readonly extractedAt: number;
  /** The outbound proxy that the site was asked through: signed URLs are bound to its IP. */
  readonly exit: number;
}

/** Where a medium is and how its server wants to be asked; plain data. */
export interface MediaSource {
  readonly origin?: SourceOrigin;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** yt-dlp's form (`a=1; Domain=.x.org; Path=/; Secure; b=2; …`) or a plain `Cookie` header for the host of `url`. */
  readonly cookies?: string;
  /** `fragments`: the pieces in order make one byte stream. */
  readonly kind: 'file' | 'hls' | 'dash' | 'fragments';
  readonly fragments?: readonly MediaFragment[];
  /** Ask for no more than so many bytes at once. */
  readonly chunkBytes?: number;
  /** Milliseconds since the epoch before which the server refuses. */
  readonly availableAt?: number;
}

/**
 * Finds the same medium under a URL that works again.
 * @param source the one whose URL was refused
 * @throws DomainError when the site offers it no more; the signal's reason
 */
export type RenewSource = (source: MediaSource, signal: AbortSignal) => Promise<MediaSource>;
