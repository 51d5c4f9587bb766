import type { ChildGroup } from '../child/child-group.js';
import type { ChannelKind } from '../engine-options.js';
import { ipcChannel } from './ipc-channel.js';
import { jsonLinesChannel } from './json-lines-channel.js';
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

export function openChannel(kind: ChannelKind, child: ChildGroup, listener: ChannelListener): Channel {
  return kind === 'ipc' ? ipcChannel(child, listener) : jsonLinesChannel(child, listener);
}
