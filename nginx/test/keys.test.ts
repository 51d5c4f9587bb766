import { createHash, createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';
import { statusFrom } from './support/raw-client.js';

let folder: string;
let file: string;
let gateway: TestGateway;

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const line = (name: string, key: string, limits = '') => `${name} ${hashOf(key)} ${limits}\n`;

async function start(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'gateway-keys-'));
  file = join(folder, 'keys');
  writeFileSync(
    file,
    `# clients\n\n${line('alice', 'key-of-alice')}${line('bob', 'key-of-bob', 'images=60 videos=100')}`,
  );
  gateway = await startGateway({ env: { API_KEYS_FILE: file } });
}

async function stop(): Promise<void> {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

const ask = (path: string, key?: string, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    headers: { ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }), ...headers },
  });

interface Echo {
  readonly headers: Record<string, string>;
}

const seen = async (path: string, key: string, headers: Record<string, string> = {}) =>
  ((await (await ask(path, key, headers)).json()) as Echo).headers;

describe('a request', () => {
  beforeAll(start);
  beforeEach(() => gateway.resetServices());
  afterAll(stop);

  const dataPaths = [
    '/api/info?url=x',
    '/api/stream?url=x',
    '/api/stream/video?url=x',
    '/api/remove-background',
    '/video-dl/api/info?url=x',
    '/video-dl/api/stream?url=x',
    '/video-dl//api//INFO?url=x',
    '/bg-removal/api/remove-background',
  ];

  test.each(dataPaths)('%s needs a key', async (path) => {
    const response = await ask(path);

    expect(response.headers.get('www-authenticate')).toBe('Basic realm="key as the password", Bearer');
    await expectProblem(response, 401, 'unauthorized');
    expect([...gateway.videoDl.requests, ...gateway.bgRemoval.requests]).toHaveLength(0);
    expect((await ask(path, 'key-of-alice')).status).toBe(200);
  });

  test.each([
    ['a wrong key', 'Bearer nobody'],
    ['the hash instead of the key', `Bearer ${createHash('sha256').update('key-of-alice').digest('hex')}`],
    ['another scheme', 'Basic key-of-alice'],
    ['nothing after the scheme', 'Bearer '],
    ['two keys', 'Bearer key-of-alice key-of-bob'],
    ['the key as a user name with another password', `Basic ${btoa('key-of-alice:x')}`],
    ['Basic without a password', `Basic ${btoa(':')}`],
    ['Basic without a colon', `Basic ${btoa('key-of-alice')}`],
  ])('%s is rejected', async (_name, authorization) => {
    const response = await ask('/api/info?url=x', undefined, { Authorization: authorization });
    await expectProblem(response, 401, 'unauthorized');
  });

  test.each([
    ['X-Api-Key', { 'X-Api-Key': 'key-of-alice' }],
    ['the password of HTTP Basic', { Authorization: `Basic ${btoa('anyone:key-of-alice')}` }],
    ['the user name of HTTP Basic without a password', { Authorization: `Basic ${btoa('key-of-alice:')}` }],
  ])('a key is accepted as %s and is not forwarded', async (_name, headers) => {
    const response = await fetch(`${gateway.url}/api/info?url=x`, { headers });
    expect(response.status).toBe(200);
    const sent = ((await response.json()) as Echo).headers;
    expect(sent).toMatchObject({ 'x-client-name': 'alice' });
    expect(JSON.stringify(sent)).not.toContain('key-of-alice');
    expect(sent).not.toHaveProperty('authorization');
  });

  test('a browser does not ask for a password over the page', async () => {
    const response = await ask('/api/info?url=x', undefined, {
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)',
    });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('an upload with a wrong key is rejected for the key, whatever its size', async () => {
    const body = Buffer.alloc(1024 * 1024);
    const response = await fetch(`${gateway.url}/api/remove-background`, { method: 'POST', body });
    await expectProblem(response, 401, 'unauthorized');
  });

  test('health, the page and the documentation need no key', async () => {
    for (const path of ['/', '/docs/', '/video-dl/api/health', '/bg-removal/api/health']) {
      expect((await ask(path)).status).toBe(200);
    }
    expect((await ask('/api/health')).status).not.toBe(401);
  });

  test('the service gets the name and the limit, but not the key or forged headers', async () => {
    const lies = { 'X-Client-Name': 'root', 'X-Client-Limit': '0' };

    expect(await seen('/api/info?url=x', 'key-of-bob', lies)).toMatchObject({
      'x-client-name': 'bob',
      'x-client-limit': '100',
    });
    expect(await seen('/api/remove-background', 'key-of-bob', lies)).toMatchObject({
      'x-client-limit': '60',
    });
    const alice = await seen('/api/info?url=x', 'key-of-alice', lies);
    expect(alice).toMatchObject({ 'x-client-name': 'alice' });
    expect(alice).not.toHaveProperty('x-client-limit');
    expect(alice).not.toHaveProperty('authorization');
    expect(await (await fetch(`${gateway.url}/video-dl/api/health`, { headers: lies })).text()).not.toContain(
      'root',
    );
  });
});

describe('a key sent as a cookie, for downloads by the browser', () => {
  beforeAll(start);
  beforeEach(() => gateway.resetServices());
  afterAll(stop);

  const withCookie = (path: string, cookie: string, method = 'GET') =>
    fetch(gateway.url + path, { method, headers: { Cookie: cookie } });

  test.each(['/api/stream?url=x', '/api/stream/video?url=x', '/video-dl/api/stream?url=x'])(
    'allows %s and is not forwarded',
    async (path) => {
      const response = await withCookie(path, 'theme=dark; access-key=key-of%2Dalice');
      expect(response.status).toBe(200);
      const { headers } = (await response.json()) as Echo;
      expect(headers).toMatchObject({ 'x-client-name': 'alice' });
      expect(headers).not.toHaveProperty('cookie');
      expect((await withCookie(path, 'access-key=key-of-alice', 'HEAD')).status).toBe(200);
    },
  );

  test.each([
    ['for anything else', 'GET', '/api/info?url=x', 'access-key=key-of-alice'],
    ['for an upload', 'POST', '/api/remove-background', 'access-key=key-of-alice'],
    ['that is wrong', 'GET', '/api/stream?url=x', 'access-key=nobody'],
    ['that is not encoded', 'GET', '/api/stream?url=x', 'access-key=%'],
    ['under another name', 'GET', '/api/stream?url=x', 'my-access-key=key-of-alice'],
  ])('%s is rejected', async (_name, method, path, cookie) => {
    await expectProblem(await withCookie(path, cookie, method), 401, 'unauthorized');
  });

  test('is ignored if the header is wrong', async () => {
    const headers = { Cookie: 'access-key=key-of-alice', Authorization: 'Bearer nobody' };
    await expectProblem(await fetch(`${gateway.url}/api/stream?url=x`, { headers }), 401, 'unauthorized');
  });
});

describe('a signed URL', () => {
  beforeAll(start);
  beforeEach(() => gateway.resetServices());
  afterAll(stop);

  const inAMinute = () => Math.floor(Date.now() / 1000) + 60;
  const signed = (target: string, key = 'key-of-bob', expires = inAMinute()) => {
    const text = `${target}${target.includes('?') ? '&' : '?'}expires=${expires}`;
    const mac = createHmac('sha256', hashOf(key)).update(text).digest('hex');
    return `${text}&signature=${hashOf(key).slice(0, 16)}.${mac}`;
  };
  const paths = [
    '/api/info?url=x',
    '/api/stream?url=x&fmt=mp3',
    '/api/stream/video?url=https%3A%2F%2Fx%2F%3Fa',
  ];

  test("is a permission for any site's page, which a URL without a valid signature is not", async () => {
    const page = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' };
    const allowed = await fetch(gateway.url + signed('/api/stream?url=x'), { headers: page });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    for (const path of ['/api/stream?url=x', signed('/api/stream?url=x', 'key-of-nobody')])
      expect((await fetch(gateway.url + path, { headers: page })).status).toBe(403);
  });

  test.each([...paths, '/video-dl/api/stream?url=x'])(
    '%s needs no header and counts as its key',
    async (path) => {
      const response = await ask(signed(path));
      expect(response.status).toBe(200);
      const { headers, url } = (await response.json()) as Echo & { url: string };
      expect(headers).toMatchObject({ 'x-client-name': 'bob', 'x-client-limit': '100' });
      // The service gets what was signed, without what only the gateway understands.
      expect(url).toBe(path.replace('/video-dl', ''));
      expect((await fetch(gateway.url + signed(path), { method: 'HEAD' })).status).toBe(200);
      expect(gateway.accessLog().at(-1)).toMatchObject({ key: 'bob' });
      expect(JSON.stringify(gateway.accessLog())).not.toContain('signature');
    },
  );

  const good = () => signed('/api/stream?url=x');
  test.each([
    ['whose query has been changed', () => good().replace('url=x', 'url=y')],
    ['whose path has been changed', () => good().replace('/stream?', '/info?')],
    ['whose time has been changed', () => good().replace('expires=', 'expires=9')],
    ['with another signature', () => good().replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))],
    ['with another key', () => signed('/api/stream?url=x', 'key-of-nobody')],
    ['with something after the signature', () => `${good()}&fmt=original`],
    ['that has expired', () => signed('/api/stream?url=x', 'key-of-bob', inAMinute() - 61)],
    ['without a time', () => good().replace(/expires=\d+/, 'expires=')],
    ['for another spelling of the path', () => signed('/api//stream?url=x')],
    ['for an upload', () => signed('/api/remove-background')],
  ])('%s is rejected', async (_name, url) => {
    await expectProblem(await ask(url()), 401, 'unauthorized');
    expect(gateway.videoDl.requests).toHaveLength(0);
  });

  test('signs no upload', async () => {
    const response = await fetch(gateway.url + signed('/api/stream?url=x'), { method: 'POST', body: 'x' });
    await expectProblem(response, 401, 'unauthorized');
  });

  test('holds below a base path, whether or not the proxy in front strips it', async () => {
    await using other = await startGateway({ env: { API_KEYS_FILE: file, BASE_PATH: '/media' } });
    const url = good();
    expect((await fetch(other.url + url)).status).toBe(200);
    expect((await fetch(`${other.url}/media${url}`)).status).toBe(200);
    await expectProblem(await fetch(other.url + signed('/media/api/stream?url=x')), 401, 'unauthorized');
  });
});

describe('limits and changes', () => {
  beforeEach(start);
  afterEach(stop);

  test('an IP address that tries many keys is limited; valid keys and other addresses are not', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 23; count += 1)
      statuses.push((await ask('/api/info?url=x', `guess-${count}`)).status);
    expect(statuses.slice(0, 21)).toEqual(Array.from({ length: 21 }, () => 401));
    expect(statuses.slice(22)).toEqual([429]);

    expect((await ask('/api/info?url=x', 'key-of-alice')).status).toBe(200);
    expect(await statusFrom(gateway.port, '127.0.0.2', '/api/info?url=x')).toBe(401);
  });

  test('requests without a key are counted by IP address, so that one cannot lock out others', async () => {
    const held = Array.from({ length: 70 }, () =>
      connect({ port: gateway.port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
    );
    for (const socket of held) {
      socket.on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\nx');
    }
    while ((await statusFrom(gateway.port, '127.0.0.2', '/')) !== 429)
      await new Promise((resolve) => setImmediate(resolve));

    expect(await statusFrom(gateway.port, '127.0.0.3', '/')).toBe(200);
    expect(await statusFrom(gateway.port, '127.0.0.3', '/video-dl/api/health')).toBe(200);
    for (const socket of held) socket.destroy();
  });

  test('a key is counted by its name; a key with its own limit is left to the service', async () => {
    const inTurn: number[] = [];
    for (let count = 0; count < 12; count += 1)
      inTurn.push((await ask('/api/info?url=x', 'key-of-alice')).status);
    expect(inTurn).toEqual([...Array.from({ length: 11 }, () => 200), 429]);
    const rejection = await ask('/api/info?url=x', 'key-of-alice');
    expect((await expectProblem(rejection, 429, 'rate_limited')).detail).toMatch(/^This key has sent/);

    for (let count = 0; count < 30; count += 1) {
      expect((await ask('/api/info?url=x', 'key-of-bob')).status).toBe(200);
    }
  });

  test('a change of the file takes effect at once', async () => {
    expect((await ask('/api/info?url=x', 'key-of-carol')).status).toBe(401);
    // Like `sed -i` and editors, replace the file with a new one.
    writeFileSync(`${file}.new`, `# ${hashOf('key-of-alice')}\n${line('carol', 'key-of-carol')}`);
    renameSync(`${file}.new`, file);
    expect((await ask('/api/info?url=x', 'key-of-carol')).status).toBe(200);
    expect((await ask('/api/info?url=x', 'key-of-alice')).status).toBe(401);
  });

  test('a byte order mark before the first line is ignored', async () => {
    writeFileSync(
      `${file}.new`,
      `\ufeff${line('carol', 'key-of-carol', 'videos=0')}${line('dave', 'key-of-dave', 'videos=0')}`,
    );
    renameSync(`${file}.new`, file);
    const bothAreFound = async () => {
      expect((await ask('/api/info?url=x', 'key-of-carol')).status).toBe(200);
      expect((await ask('/api/info?url=x', 'key-of-dave')).status).toBe(200);
    };
    await bothAreFound();
    while (!existsSync(join(gateway.runDir, 'keys.index'))) await delay(100).then(bothAreFound);
    await bothAreFound();
    await using restarted = await startGateway({ env: { API_KEYS_FILE: file } });
    expect((await fetch(`${restarted.url}/api/info?url=x`)).status).toBe(401);
  });

  test('spaces before a name and Windows line ends are accepted at start and for each request', async () => {
    writeFileSync(`${file}.new`, `\r\n  ${line('carol', 'key-of-carol', 'videos=0').replace('\n', '\r\n')}`);
    renameSync(`${file}.new`, file);
    await using restarted = await startGateway({ env: { API_KEYS_FILE: file } });
    const headers = { Authorization: 'Bearer key-of-carol' };
    expect((await fetch(`${restarted.url}/api/info?url=x`, { headers })).status).toBe(200);
  });

  test('keys are found even if no index can be written', async () => {
    mkdirSync(join(gateway.runDir, 'keys.index'));
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await seen('/api/info?url=x', 'key-of-bob')).toMatchObject({ 'x-client-name': 'bob' });
    expect((await ask('/api/info?url=x', 'key-of-nobody')).status).toBe(401);
  });

  test('a missing file rejects everyone, and the response to a key names it', async () => {
    rmSync(file);
    expect((await ask('/api/info?url=x')).status).toBe(401);
    const problem = await expectProblem(await ask('/api/info?url=x', 'key-of-alice'), 500, 'internal_error');
    expect(problem.detail).toContain('API_KEYS_FILE');
  });

  test('an invalid file is rejected at start, with its line number', async () => {
    writeFileSync(file, `${line('alice', 'key-of-alice')}bob plain-text-key\n`);
    await expect(startGateway({ env: { API_KEYS_FILE: file } })).rejects.toThrow(
      /API_KEYS_FILE must be .*line 2 of/s,
    );
    for (const unusable of [
      line('bob', 'key-of-bob', 'images=1000000'),
      line('bob', 'key-of-bob', ' '.repeat(450)),
    ]) {
      writeFileSync(file, unusable);
      await expect(startGateway({ env: { API_KEYS_FILE: file } })).rejects.toThrow(
        /up to 999999.*line 1 of/s,
      );
    }
    await expect(startGateway({ env: { API_KEYS_FILE: folder } })).rejects.toThrow(/a readable file/);
    await expect(startGateway({ env: { API_KEYS_FILE: `${file}-gone` } })).rejects.toThrow(/a readable file/);
  });
});

describe('with a file of 10 000 keys that has an index', () => {
  const indexFile = () => join(gateway.runDir, 'keys.index');
  const waitForIndex = async () => {
    while (!existsSync(indexFile())) {
      await ask('/api/info?url=x', 'key-0');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  /** Bytes that the gateway has read from files. */
  const bytesRead = () => {
    const workers = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8')
      .trim()
      .split(' ');
    const counts = workers.map((pid) => /^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };

  beforeAll(async () => {
    await start();
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      line(`client-${index}`, `key-${index}`, 'videos=0'),
    );
    writeFileSync(file, `# Ge\u00e4ndert\n${lines.join('')}${line('twice', 'key-5')}`, 'latin1');
    await waitForIndex();
  });
  afterAll(stop);

  test('each key is found, and no other', async () => {
    for (const number of [0, 5, 4999, 9999]) {
      expect(await seen('/api/info?url=x', `key-${number}`)).toMatchObject({
        'x-client-name': `client-${number}`,
      });
    }
  });

  test('a wrong key costs a few reads of the index, not of the whole file', async () => {
    const before = bytesRead();
    for (let count = 0; count < 50; count += 1)
      await (await ask('/api/info?url=x', `wrong-${count}`)).arrayBuffer();
    expect(bytesRead() - before).toBeLessThan(readFileSync(file).length);
  });

  test('revoked and new keys take effect at once, with and without an index', async () => {
    const lines = readFileSync(file, 'latin1').replace(
      line('client-7', 'key-7', 'videos=0'),
      line('new', 'key-new', 'videos=0'),
    );
    writeFileSync(file, lines, 'latin1');
    const expectChanged = async () => {
      expect((await ask('/api/info?url=x', 'key-7')).status).not.toBe(200);
      expect(await seen('/api/info?url=x', 'key-new')).toMatchObject({ 'x-client-name': 'new' });
    };
    await expectChanged();
    rmSync(indexFile());
    await waitForIndex();
    await expectChanged();
  });
});
