/** Aborts when the process is asked to stop (SIGTERM, SIGINT). */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => controller.abort(name));
  }
  return controller.signal;
}
