import type { ChildGroup } from '../child/child-group.js';
import type { Channel, ChannelListener } from './channel.js';

/** Node's own channel between parent and child. */
export function ipcChannel(child: ChildGroup, { onMessage }: ChannelListener): Channel {
  child.onMessage(onMessage);
  return { send: (message) => child.send(message) };
}
