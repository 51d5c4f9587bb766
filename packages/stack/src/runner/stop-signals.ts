/**
 * Resolves when the command is told to end: Ctrl-C, SIGTERM, the terminal going away,
 * or the npm that started it being gone. A second signal calls `onImpatience`.
 * @returns why
 */
export function toldToStop(onImpatience: () => void): Promise<string> {
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
      const look = () => {
        if (process.ppid !== parent) resolve('npm is gone');
      };
      setInterval(look, 1000).unref();
    }
  });
}
