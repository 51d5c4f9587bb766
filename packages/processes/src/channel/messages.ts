import { z } from 'zod';

/** What an engine may say. */
export const engineMessageSchema = z.union([
  /** A step of the start is done. */
  z.object({ type: z.literal('starting') }),
  z.looseObject({ type: z.literal('ready') }),
  z.object({ id: z.number().int(), ok: z.literal(true), result: z.unknown() }),
  z.object({ id: z.number().int(), ok: z.literal(false), error: z.unknown() }),
  /** Half-way through a job: the engine waits for `continue`. */
  z.object({ id: z.number().int(), step: z.unknown() }),
]);
export type EngineMessage = z.output<typeof engineMessageSchema>;
export type EngineStep = Extract<EngineMessage, { step: unknown }>;
export type EngineAnswer = Extract<EngineMessage, { ok: boolean }>;

/** What an engine is told. */
export type SupervisorMessage =
  | { readonly type: 'run'; readonly id: number; readonly job: unknown }
  | { readonly type: 'continue'; readonly id: number; readonly data: unknown }
  | { readonly type: 'cancel'; readonly id: number };
