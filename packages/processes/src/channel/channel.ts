import type { SupervisorMessage } from './messages.js';

export interface ChannelListener {
  /** Anything that arrived, not yet validated. */
  readonly onMessage: (message: unknown) => void;
  /** The other side broke the protocol. */
  readonly onGarbage: (reason: string) => void;
}

export interface Channel {
  send(message: SupervisorMessage): void;
}
