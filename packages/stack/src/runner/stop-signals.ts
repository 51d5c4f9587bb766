/**
 * Resolves when the command should stop: on Ctrl-C, SIGTERM, a closed terminal, or when the npm
 * that started it has exited. A second signal calls `onSecondSignal`.
 * @returns the reason
 */
export function stopRequested(onSecondSignal: () => void): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        if (isStopping) onSecondSignal();
        isStopping = true;
        resolve(signal);
      });
    }
    if (process.env.npm_lifecycle_event !== undefined) {
      const parent = process.ppid;
      const checkParent = () => {
        if (process.ppid !== parent) resolve('npm is gone');
      };
      setInterval(checkParent, 1000).unref();
    }
  });
}
