import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { freePort, gatewayDir } from '../src/set-up/index.mjs';
import { startNginx } from '../dist/gateway/nginx.js';
import { gatewayListen } from '../dist/gateway/render-gateway.js';
import { scratch } from './support/scratch.js';

test('another program on its port is not taken for the gateway', async () => {
  const other = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const folder = scratch();

  const started = startNginx({
    gatewayDir,
    runDir: join(folder, 'run'),
    port: (other.address() as AddressInfo).port,
    variables: {
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: '127.0.0.1:1',
      BG_REMOVAL_UPSTREAM: '127.0.0.1:2',
    },
  });

  await expect(started).rejects.toThrow(/did not start:[^]*Address already in use/);
  other.close();
  await once(other, 'close');
});

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');

test.each([
  ['0.0.0.0', ['127.0.0.1']],
  ...(hasIpv6 ? [['::1', ['[::1]']] as const] : []),
  ['::', ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]],
] as const)('HOST=%s is reachable at %j', async (host, names) => {
  const folder = scratch();
  const port = await freePort();
  await using gateway = await startNginx({
    gatewayDir,
    runDir: join(folder, 'run'),
    port,
    variables: {
      GATEWAY_LISTEN: gatewayListen(host, port),
      GATEWAY_ACCESS_LOG: join(folder, 'access.log'),
      VIDEO_DL_UPSTREAM: '127.0.0.1:1',
      BG_REMOVAL_UPSTREAM: '127.0.0.1:2',
    },
  });

  expect(gateway.pid).toBeGreaterThan(0);
  for (const name of names) expect((await fetch(`http://${name}:${port}/`)).status).toBe(200);
});
