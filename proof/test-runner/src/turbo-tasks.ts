import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
      directory: z.string().optional(),
      cache: z.object({ status: z.string() }).optional(),
      execution: z.object({ exitCode: z.number() }).nullish(),
    }),
  ),
});

interface TurboOptions {
  readonly tasks: readonly string[];
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly args?: readonly string[];
}

/** How a run of turbo ended, and its summary. */
export interface TurboRun {
  /** Undefined if it took too long. */
  readonly code: number | undefined;
  readonly summary: unknown;
}

/** Runs turbo tasks and shows their output. A failed task doesn't stop the others. */
export async function runTurboTasks(options: TurboOptions): Promise<TurboRun> {
  const { tasks, root, env, timeoutMs, args = [] } = options;
  const earlier = summaryFiles(root);
  const { code } = await runGroup(
    join(root, 'node_modules', '.bin', 'turbo'),
    ['run', ...tasks, '--continue=always', '--summarize', '--log-prefix=none', ...args],
    {
      cwd: root,
      env: { ...env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
      timeoutMs,
    },
  );
  // A run that crashes writes none; an earlier one's would hide that.
  const written = summaryFiles(root).find((file) => !earlier.includes(file));
  return {
    code,
    summary: written === undefined ? { tasks: [] } : JSON.parse(readFileSync(written, 'utf8')),
  };
}

/** The folders of the packages whose task turbo replayed. */
export function cachedFolders(summary: unknown, wanted: string): ReadonlySet<string> {
  const replayed = runSummary
    .parse(summary)
    .tasks.filter(({ task, cache }) => task === wanted && cache?.status === 'HIT');
  return new Set(replayed.map(({ directory = '' }) => directory));
}

function summaryFiles(root: string): string[] {
  const folder = join(root, '.turbo', 'runs');
  return existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : [];
}

/** How the wanted tasks of a turbo run ended, each as one test; a task that couldn't run has failed. */
export function checksResult(
  name: string,
  { code, summary }: TurboRun,
  wanted: readonly string[],
): SuiteResult {
  const all = runSummary.parse(summary).tasks;
  const hasFailed = ({ execution }: (typeof all)[number]) => execution?.exitCode !== 0;
  const tasks = all.filter(({ task }) => wanted.includes(task));
  const failures = tasks.filter(hasFailed).map(({ taskId }) => taskId.replace('#', ': '));
  const result = {
    name,
    passed: tasks.length - failures.length,
    failed: failures.length,
    skipped: 0,
    failures,
  };
  const isExplained = tasks.length > 0 && (code === 0 || all.some(hasFailed));
  return isExplained ? result : crashed(name, `turbo ended with ${code ?? 'no result in time'}`, result);
}
