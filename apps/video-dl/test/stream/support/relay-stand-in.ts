import type { DomainError } from '@media-services/http-common';
import type { Parse } from '../../../dist/parsing/parser-pool.js';
import type { MediaSource } from '../../../dist/upstream/media-source.js';
import type { MediaRelay } from '../../../dist/relay/media-relay.js';
import type { RelayInput, RelaySession } from '../../../dist/relay/session.js';

/** A relay that lets ffmpeg read the sources directly, and fails on command. */
export class RelayStandIn implements Pick<MediaRelay, 'open'> {
  readonly sessions: SessionStandIn[] = [];
  allReceived = true;
  bytesReceived = 0;
  readonly parse: Parse;

  constructor(parse: Parse) {
    this.parse = parse;
  }

  open(): SessionStandIn {
    const session = new SessionStandIn(this);
    this.sessions.push(session);
    return session;
  }
}

export class SessionStandIn implements RelaySession {
  readonly failed: Promise<DomainError>;
  failure: DomainError | undefined;
  readonly environment = {};
  closed = false;
  readonly #relay: RelayStandIn;
  #resolve: (failure: DomainError) => void = () => undefined;

  constructor(relay: RelayStandIn) {
    this.#relay = relay;
    this.failed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get parse(): Parse {
    return this.#relay.parse;
  }

  get bytesReceived(): number {
    return this.#relay.bytesReceived;
  }

  add({ url }: MediaSource): Promise<readonly RelayInput[]> {
    const unknown = {
      startSeconds: null,
      hiddenSeconds: 0,
      offsetSeconds: null,
      statedSeconds: null,
      lengths: null,
      isWhole: false,
      readAhead: () => undefined,
    };
    return Promise.resolve([{ url, carries: 'all', isJoined: false, ...unknown }]);
  }

  fail(error: DomainError): void {
    this.failure = error;
    this.#resolve(error);
  }

  allReceived(): boolean {
    return this.#relay.allReceived;
  }

  close(): void {
    this.closed = true;
  }
}
