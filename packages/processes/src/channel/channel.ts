import type { ChildProcess } from 'node:child_process';
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

export function openChannel(kind: ChannelKind, child: ChildProcess, listener: ChannelListener): Channel {
  return kind === 'ipc' ? ipcChannel(child, listener) : jsonLinesChannel(child, listener);
}

/** The stdio that a channel needs: stdin, stdout, stderr and, for ipc, the channel itself. */
export function stdioFor(kind: ChannelKind): ('pipe' | 'ignore' | 'ipc')[] {
  return kind === 'ipc' ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe'];
}
