import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { ChildGroup } from './child/child-group.js';
import type { ChannelKind } from './engine-options.js';

/** Messages from an engine. */
export const engineMessageSchema = z.union([
  /** One step of the startup is done. */
  z.object({ type: z.literal('starting') }),
  z.looseObject({ type: z.literal('ready') }),
  z.object({ id: z.number().int(), ok: z.literal(true), result: z.unknown() }),
  z.object({ id: z.number().int(), ok: z.literal(false), error: z.unknown() }),
  /** An intermediate result: the engine waits for `continue`. */
  z.object({ id: z.number().int(), step: z.unknown() }),
]);
export type EngineMessage = z.output<typeof engineMessageSchema>;
export type EngineStep = Extract<EngineMessage, { step: unknown }>;
export type EngineResponse = Extract<EngineMessage, { ok: boolean }>;

/** Messages to an engine. */
export type SupervisorMessage =
  | { readonly type: 'run'; readonly id: number; readonly job: unknown }
  | { readonly type: 'continue'; readonly id: number; readonly data: unknown }
  | { readonly type: 'cancel'; readonly id: number }
  /** Nothing more urgent needs the processor: the engine may prepare for later jobs. */
  | { readonly type: 'prepare' };

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

/** Node's own channel between parent and child. */
function ipcChannel(child: ChildGroup, { onMessage }: ChannelListener): Channel {
  child.onMessage(onMessage);
  return { send: (message) => child.send(message) };
}

/**
 * Parsing a line blocks the event loop; a line of this length takes less than 200 ms on a slow
 * machine. The engines limit their results to a quarter of it, which leaves room for escapes.
 */
const maxLineLength = 8 * 1024 * 1024;

/** One JSON value per line on stdin and stdout. */
function jsonLinesChannel(child: ChildGroup, { onMessage, onGarbage }: ChannelListener): Channel {
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
  // When a child has just died, its exit reports that; the failed write adds nothing.
  const [stdin] = child.inputs;
  stdin?.on('error', () => undefined);

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

  return { send: (message) => stdin?.write(`${JSON.stringify(message)}\n`) };
}
