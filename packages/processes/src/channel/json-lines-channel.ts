import { StringDecoder } from 'node:string_decoder';
import type { ChildGroup } from '../child/child-group.js';
import type { Channel, ChannelListener } from './channel.js';

/**
 * Parsing a line holds the event loop: this much takes less than 200 ms on a slow machine. The
 * engines limit their results to a quarter of it, which leaves room for escapes.
 */
const maxLineLength = 8 * 1024 * 1024;

/** One JSON value a line on stdin and stdout. */
export function jsonLinesChannel(child: ChildGroup, { onMessage, onGarbage }: ChannelListener): Channel {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let pendingLength = 0;

  child.stdout.on('data', (chunk: Buffer) => {
    const lines = decoder.write(chunk).split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const whole = pieces.join('') + line;
      pieces = [];
      pendingLength = 0;
      deliver(whole);
    }
    pieces.push(last);
    pendingLength += last.length;
    if (pendingLength > maxLineLength) {
      pieces = [];
      pendingLength = 0;
      onGarbage(`a line longer than ${maxLineLength} characters`);
    }
  });
  // Its exit shows that a child has just died; the failed write adds nothing.
  child.stdin?.on('error', () => undefined);

  const deliver = (line: string): void => {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      onGarbage(`a line that is not JSON: ${line.slice(0, 80)}`);
      return;
    }
    onMessage(message);
  };

  return { send: (message) => child.stdin?.write(`${JSON.stringify(message)}\n`) };
}
