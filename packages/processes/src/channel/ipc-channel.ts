import type { ChildProcess } from 'node:child_process';
import type { Channel, ChannelListener } from './channel.js';

/** Node's own channel between parent and child. */
export function ipcChannel(child: ChildProcess, { onMessage }: ChannelListener): Channel {
  child.on('message', onMessage);
  return {
    send: (message) => {
      // A child that has just died shows by its exit; the failed write adds nothing.
      if (child.connected) child.send(message, () => undefined);
    },
  };
}
