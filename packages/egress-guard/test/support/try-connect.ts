import type { ConnectOptions, Guard } from '../../dist/index.js';

/** Connects where no connection is expected: one that opens all the same ends here and not in a later test. */
export async function tryConnect(guard: Guard, options: ConnectOptions): Promise<void> {
  (await guard.connect(options)).destroy();
}
