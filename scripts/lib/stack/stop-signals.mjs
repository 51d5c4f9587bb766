/**
 * Resolves when the command is told to end: Ctrl-C, SIGTERM, the terminal going away,
 * or the npm that started it being gone. A second signal calls `onImpatience`.
 * @param {() => void} onImpatience
 * @returns {Promise<string>} why
 */
export function toldToStop(onImpatience) {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        if (told) onImpatience();
        told = true;
        resolve(signal);
      });
    }
    if (process.env.npm_lifecycle_event !== undefined) {
      const parent = process.ppid;
      setInterval(() => process.ppid !== parent && resolve('npm is gone'), 1000).unref();
    }
  });
}
