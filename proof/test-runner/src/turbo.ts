import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { runGroup } from './run-group.js';
import { crashed, type SuiteResult } from './suite-result.js';

/** The part of turbo's run summary (`.turbo/runs/ID.json`) that says how each task ended. */
const runSummary = z.object({
  tasks: z.array(
    z.object({
      taskId: z.string(),
      task: z.string(),
      cache: z.object({ status: z.string() }).optional(),
      execution: z.object({ exitCode: z.number() }).nullish(),
    }),
  ),
});

/** How a run of turbo ended, and its summary. */
export interface TurboRun {
  /** Undefined if it took too long. */
  readonly code: number | undefined;
  readonly summary: unknown;
}

/** Runs turbo tasks, one at a time. A failed task doesn't stop the others. */
export async function runTurbo(options: {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  /** The tasks, and in which packages. */
  readonly args: readonly string[];
}): Promise<TurboRun & { readonly output: string }> {
  const { root, env, timeoutMs, args } = options;
  let output = '';
  const { code } = await runGroup(
    join(root, 'node_modules', '.bin', 'turbo'),
    [
      ...['run', ...args, '--concurrency=1', '--continue=always', '--summarize'],
      ...['--log-order=grouped', '--log-prefix=none', '--output-logs=new-only'],
    ],
    {
      cwd: root,
      env: { ...env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
      timeoutMs,
      onOutput: (text) => (output += text),
    },
  );
  return { code, output, summary: readSummary(output) };
}

/** The summary that a run of turbo names in its last lines. One that crashes writes none. */
function readSummary(output: string): unknown {
  const file = [...output.matchAll(/^Summary: +(\S.*)$/gm)].at(-1)?.[1];
  return file === undefined ? { tasks: [] } : JSON.parse(readFileSync(file, 'utf8'));
}

/** What vitest reported about a package, unless turbo failed for another reason. */
export function packageResult(reported: SuiteResult, { code, summary }: TurboRun): SuiteResult {
  if (code !== 0 && reported.failed === 0) return crashed(reported.name, endOf(code), reported);
  const { tasks } = runSummary.parse(summary);
  return { ...reported, cached: tasks.some(({ task, cache }) => task === 'test' && cache?.status === 'HIT') };
}

function endOf(code: TurboRun['code']): string {
  return `turbo ended with ${code ?? 'no result in time'}`;
}
