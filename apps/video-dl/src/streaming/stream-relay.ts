import type { DomainError } from '@media-services/http-common';
import type { MediaSource } from '../relay/media-source.js';

/** What streaming needs of the media relay. */
export interface StreamRelay {
  open(options: { signal: AbortSignal }): StreamRelaySession;
  fetchBytes(
    url: string,
    options: { headers: Readonly<Record<string, string>>; maxBytes: number; signal: AbortSignal },
  ): Promise<{ bytes: Uint8Array }>;
}

export interface StreamRelaySession {
  /** A loopback address for ffmpeg. */
  add(source: MediaSource): string;
  /** Resolves on the first upstream failure that was not recovered; never rejects. */
  readonly failed: Promise<DomainError>;
  readonly failure: DomainError | undefined;
  readonly bytesReceived: number;
  /** Whether everything that was asked for to its end has arrived. */
  allReceived(): boolean;
  close(): void;
}
