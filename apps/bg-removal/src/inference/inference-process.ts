import { z } from 'zod';
import { inferenceJobSchema, inferenceSettingsSchema, type InferenceReady } from './job.js';
import { MattingSession } from './matting-session.js';

/**
 * Entry point of the inference process, run by the engine supervisor. Loads the network given
 * on the command line, warms it up, sends `ready`, then runs one job at a time. Only the IPC
 * channel keeps it alive, so it ends with its parent.
 */
const runMessageSchema = z.object({ type: z.literal('run'), id: z.int(), job: inferenceJobSchema });

function send(message: object): void {
  process.send?.(message);
}

async function loadWarm(settingsJson: string): Promise<{ session: MattingSession; ready: InferenceReady }> {
  const settings = inferenceSettingsSchema.parse(JSON.parse(settingsJson));
  const loadStartedAt = performance.now();
  send({ type: 'starting' });
  const session = await MattingSession.load(settings);
  send({ type: 'starting' });
  const warmUpStartedAt = performance.now();
  // The first run allocates memory and is slower; no client should wait for it.
  await session.run(new Uint8Array(settings.inputSize.width * settings.inputSize.height * 3).fill(128));
  const now = performance.now();
  return {
    session,
    ready: { type: 'ready', loadMs: warmUpStartedAt - loadStartedAt, warmUpMs: now - warmUpStartedAt },
  };
}

const { session, ready } = await loadWarm(process.argv[2] ?? '{}');

process.on('message', (raw) => {
  const message = runMessageSchema.safeParse(raw);
  // A `cancel` can only arrive after its run has finished, so there is nothing to cancel.
  if (!message.success) return;
  const { id, job } = message.data;
  session.run(job.rgb).then(
    (result) => send({ id, ok: true, result }),
    (error: unknown) => send({ id, ok: false, error: { message: String(error) } }),
  );
});
send(ready);
