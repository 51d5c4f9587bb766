import { z } from 'zod';

/** What an engine may say. */
export const engineMessageSchema = z.union([
  /** A step of the start is done. */
  z.object({ type: z.literal('starting') }),
  z.looseObject({ type: z.literal('ready') }),
  z.object({ id: z.number().int(), ok: z.literal(true), result: z.unknown() }),
  z.object({ id: z.number().int(), ok: z.literal(false), error: z.unknown() }),
]);
export type EngineMessage = z.output<typeof engineMessageSchema>;
export type EngineAnswer = Extract<EngineMessage, { id: number }>;

/** What an engine is told. */
export type SupervisorMessage =
  | { readonly type: 'run'; readonly id: number; readonly job: unknown }
  | { readonly type: 'cancel'; readonly id: number };
