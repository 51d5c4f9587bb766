import { getEventListeners } from 'node:events';
import { request } from 'undici';
import { createGuardedDispatcher, createTlsConnector } from '../dist/dispatcher.js';
import { createGuard } from '../dist/index.js';
import { startServer } from './support/servers.js';

const secure = createTlsConnector(undefined);

describe('a connection of the dispatcher', () => {
  it.each([
    ['http://video.example/', 80],
    ['https://video.example/', 443],
    ['http://video.example:8080/', 8080],
    ['https://video.example:8443/', 8443],
  ])('of %s is asked of the guard, port %d', async (url, port) => {
    const asked: unknown[] = [];
    const owner = new AbortController();
    const refusal = new Error('refused');
    const connect = (target: unknown) => {
      asked.push(target);
      return Promise.reject(refusal);
    };
    const dispatcher = createGuardedDispatcher({ connect, secure, signal: owner.signal });
    await expect(request(url, { dispatcher })).rejects.toBe(refusal);
    expect(asked).toEqual([{ host: 'video.example', port, signal: owner.signal }]);
    owner.abort();
  });

  it('is none for an owner that is gone already', async () => {
    const connect = () => Promise.reject(new Error('asked'));
    const dispatcher = createGuardedDispatcher({ connect, secure, signal: AbortSignal.abort() });
    await expect(request('http://video.example/', { dispatcher })).rejects.toMatchObject({
      code: 'UND_ERR_DESTROYED',
    });
  });

  it('takes the long headers that media servers send', async () => {
    await using site = await startServer((_request, response) => {
      response.setHeader('x-long', 'a'.repeat(40_000)).end();
    });
    const guard = createGuard({ allowedPrivateSources: ['127.0.0.1'] });
    const owner = new AbortController();
    const dispatcher = guard.createDispatcher({ signal: owner.signal });
    const { headers, body } = await request(site.url, { dispatcher });
    await body.dump();
    expect(headers['x-long']).toHaveLength(40_000);
    owner.abort();
    expect(getEventListeners(owner.signal, 'abort')).toHaveLength(0);
  });
});
