import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gatewayDir } from '../src/set-up/index.mjs';
import { startNginx } from '../dist/gateway/nginx.js';
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
