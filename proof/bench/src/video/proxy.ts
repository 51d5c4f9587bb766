import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const listening = z.object({ port: z.number() });

/** Starts plain-proxy.ts. */
export async function startPlainProxy(): Promise<AsyncDisposable & { readonly url: string }> {
  const child = fork(fileURLToPath(new URL('./plain-proxy.js', import.meta.url)));
  const [address] = (await once(child, 'message')) as [unknown];
  return {
    url: `http://127.0.0.1:${listening.parse(address).port}`,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
