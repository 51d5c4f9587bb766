import type { ChildGroup } from '../child/child-group.js';
import type { ChannelKind } from '../engine-options.js';
import type { Channel, ChannelListener } from './channel.js';
import { ipcChannel } from './ipc-channel.js';
import { jsonLinesChannel } from './json-lines-channel.js';

/** The way to talk with an engine that its options ask for. */
export function openChannel(kind: ChannelKind, child: ChildGroup, listener: ChannelListener): Channel {
  return kind === 'ipc' ? ipcChannel(child, listener) : jsonLinesChannel(child, listener);
}
