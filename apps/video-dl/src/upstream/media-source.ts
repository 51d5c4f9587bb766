/** One piece of a medium that is sent in pieces. */
export interface MediaFragment {
  readonly url: string;
  /** First and last byte, both included. */
  readonly byteRange?: { readonly start: number; readonly end: number };
}

/** Where a medium is and how its server wants to be asked. */
export interface MediaSource {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** yt-dlp's form (`a=1; Domain=.x.org; Path=/; Secure; b=2; …`) or a plain `Cookie` header for the host of `url`. */
  readonly cookies?: string;
  /** `fragments`: the pieces in order make one byte stream. */
  readonly kind: 'file' | 'hls' | 'dash' | 'fragments';
  readonly fragments?: readonly MediaFragment[];
  /** Ask for no more than so many bytes at once. */
  readonly chunkBytes?: number;
  /** The same medium under an address that works again, for one that has expired. */
  readonly refresh?: (signal: AbortSignal) => Promise<MediaSource>;
}
