import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { DownloadTask, PollTask, RequestsTask } from '../inside/tasks.mjs';

/** A running container in an engine or a cluster. */
export interface Box {
  readonly name: string;
  /**
   * Runs a program in it as the container's user.
   * @throws {Error} if it fails, unless `allowFailure`
   */
  exec(command: readonly string[], options?: ExecOptions): Promise<Uint8Array>;
}

export interface ExecOptions {
  readonly input?: string | Uint8Array;
  readonly allowFailure?: boolean;
}

/** A response of the gateway; `json` if it was JSON. */
export type ParsedAnswer = z.infer<typeof answerSchema>;

const answerSchema = z.object({
  status: z.number(),
  ms: z.number(),
  at: z.number(),
  error: z.string().optional(),
  type: z.string().nullish(),
  retryAfter: z.string().nullish(),
  bytes: z.number().optional(),
  start: z.string().optional(),
  json: z.unknown().optional(),
});
const downloadSchema = z.object({
  status: z.number(),
  bytes: z.number(),
  seconds: z.number(),
  complete: z.boolean(),
  error: z.string().optional(),
});
const pollSchema = z.object({
  total: z.number(),
  slowestMs: z.number(),
  failures: z.array(answerSchema),
});

/** Path of the image that `distributePicture` puts into clients. */
export const picturePath = '/tmp/picture.jpg';

/** Runs a shell line in it; returns exit code and standard output. */
export async function shell(box: Box, line: string): Promise<{ code: number; output: string }> {
  const stdout = await box.exec(['sh', '-c', `${line}\necho "exit=$?"`], { allowFailure: true });
  const out = Buffer.from(stdout).toString();
  const code = /exit=(\d+)\s*$/.exec(out)?.[1];
  return { code: code === undefined ? -1 : Number(code), output: out.replace(/exit=\d+\s*$/, '') };
}

async function ask(client: Box, task: object): Promise<unknown> {
  const out = await client.exec(['node', '/verify/client.mjs', JSON.stringify(task)]);
  return JSON.parse(Buffer.from(out).toString());
}

/** Requests of a client, in the order of their numbers. */
export async function requests(client: Box, task: Omit<RequestsTask, 'task'>): Promise<ParsedAnswer[]> {
  return z.array(answerSchema).parse(await ask(client, { task: 'requests', ...task }));
}

/** One request of a client. */
export async function request(
  client: Box,
  task: Omit<RequestsTask, 'task' | 'count'>,
): Promise<ParsedAnswer> {
  const [answer] = await requests(client, task);
  if (answer === undefined) throw new Error('the client has not asked');
  return answer;
}

export async function download(
  client: Box,
  task: Omit<DownloadTask, 'task'>,
): Promise<z.infer<typeof downloadSchema>> {
  return downloadSchema.parse(await ask(client, { task: 'download', ...task }));
}

export async function poll(client: Box, task: Omit<PollTask, 'task'>): Promise<z.infer<typeof pollSchema>> {
  return pollSchema.parse(await ask(client, { task: 'poll', ...task }));
}

/** Draws an image in bg-removal's container and copies it to the clients for their uploads. */
export async function distributePicture(artist: Box, clients: readonly Box[]): Promise<void> {
  const program = await readFile(new URL('../inside/picture.mjs', import.meta.url));
  const picture = await artist.exec(['node', '--input-type=module', '-'], { input: program });
  for (const client of clients) await client.exec(['sh', '-c', `cat > ${picturePath}`], { input: picture });
}
