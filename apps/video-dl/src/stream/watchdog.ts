/**
 * Awaits `work`; calls `onTimeout` when it has not settled after `milliseconds`,
 * and again after each further such time. The work itself goes on: `onTimeout`
 * ends it, or lets it be.
 */
export async function watched<T>(
  milliseconds: number,
  onTimeout: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(onTimeout, milliseconds);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
