import { Contract } from './support/contract.js';
import { newClient, type Client } from './support/client.js';
import { imageForm } from './support/form.js';
import { stack } from './support/stack.js';

const contract = new Contract();
let client: Client;

beforeEach(async () => {
  client = await newClient();
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
});

interface Case {
  readonly name: string;
  readonly service: 'video-dl' | 'bg-removal';
  readonly path: string;
  readonly query?: string;
  readonly method?: 'get' | 'head' | 'post';
  readonly form?: () => Promise<FormData>;
  readonly status: number;
}

const film = `?url=${encodeURIComponent(`${stack.films}/film`)}`;
const page = (path: string) => `?url=${encodeURIComponent(stack.pages + path)}`;
const noise = { bytes: new Uint8Array([1, 2, 3]), name: 'x.png' };
const cutPng = {
  bytes: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]),
  name: 'cut.png',
};

const cases: readonly Case[] = [
  { name: 'details of a video', service: 'video-dl', path: '/api/info', query: film, status: 200 },
  {
    name: 'details, headers only',
    service: 'video-dl',
    path: '/api/info',
    query: film,
    method: 'head',
    status: 200,
  },
  { name: 'no URL', service: 'video-dl', path: '/api/info', query: '', status: 400 },
  { name: 'an unknown parameter', service: 'video-dl', path: '/api/info', query: `${film}&x=1`, status: 400 },
  {
    name: 'a URL without a scheme',
    service: 'video-dl',
    path: '/api/info',
    query: '?url=x',
    status: 400,
  },
  {
    name: 'a private address',
    service: 'video-dl',
    path: '/api/info',
    query: '?url=http://10.0.0.1/',
    status: 403,
  },
  { name: 'a page that is gone', service: 'video-dl', path: '/api/info', query: page('/gone'), status: 404 },
  {
    name: 'a page without video',
    service: 'video-dl',
    path: '/api/info',
    query: page('/only-words'),
    status: 422,
  },
  { name: 'the audio', service: 'video-dl', path: '/api/stream', query: film, status: 200 },
  {
    name: 'the audio, headers only',
    service: 'video-dl',
    path: '/api/stream',
    query: film,
    method: 'head',
    status: 200,
  },
  { name: 'the video', service: 'video-dl', path: '/api/stream/video', query: film, status: 200 },
  {
    name: 'an unknown format',
    service: 'video-dl',
    path: '/api/stream/video',
    query: `${film}&fmt=avi`,
    status: 400,
  },
  {
    name: 'a rejection, headers only',
    service: 'video-dl',
    path: '/api/stream',
    query: page('/only-words'),
    method: 'head',
    status: 422,
  },
  {
    name: 'a cut-out',
    service: 'bg-removal',
    path: '/api/remove-background',
    method: 'post',
    form: () => imageForm(),
    status: 200,
  },
  {
    name: 'no file',
    service: 'bg-removal',
    path: '/api/remove-background',
    method: 'post',
    form: () => Promise.resolve(formOf({ threshold: '3' })),
    status: 400,
  },
  {
    name: 'wrong parameters',
    service: 'bg-removal',
    path: '/api/remove-background',
    method: 'post',
    form: () => imageForm({ threshold: '256', feather: 'soft', x: '1' }),
    status: 400,
  },
  {
    name: 'no image',
    service: 'bg-removal',
    path: '/api/remove-background',
    method: 'post',
    form: () => imageForm({}, noise),
    status: 415,
  },
  {
    name: 'half an image',
    service: 'bg-removal',
    path: '/api/remove-background',
    method: 'post',
    form: () => imageForm({}, cutPng),
    status: 422,
  },
];

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

async function answerTo({ service, path, query = '', method = 'get', form }: Case): Promise<Response> {
  const body = await form?.();
  return fetch(`${client.url}/${service}${path}${query}`, {
    method: method.toUpperCase(),
    ...(body && { body }),
  });
}

describe('every response is as documented', () => {
  it.each(cases)('$service: $name → $status', async (example) => {
    const answer = await answerTo(example);
    expect({ status: answer.status, body: answer.ok ? '' : await answer.clone().text() }).toMatchObject({
      status: example.status,
    });
    const { path, method = 'get' } = example;
    expect(await contract.violations(path, method, answer)).toEqual([]);
  });
});

it.each(['get', 'head'] as const)('health is as documented (%s)', async (method) => {
  const answer = await fetch(`${client.url}/api/health`, { method });
  expect(answer.status).toBe(200);
  expect(await contract.violations('/api/health', method, answer)).toEqual([]);
});

describe('undocumented requests', () => {
  it.each([
    ['/video-dl/api/info', 'POST', 405],
    ['/bg-removal/api/remove-background', 'GET', 405],
    ['/video-dl/api/nothing', 'GET', 404],
    ['/nothing', 'GET', 404],
  ])('%s %s is a problem with status %i', async (path, method, status) => {
    const answer = await fetch(client.url + path, { method });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    if (status === 405) expect(answer.headers.get('allow')).toMatch(/GET|POST/);
  });
});

it('the short paths of the gateway return the same as the service', async () => {
  const bodyAt = async (path: string) => (await fetch(client.url + path + film)).text();
  expect(await bodyAt('/api/info')).toBe(await bodyAt('/video-dl/api/info'));
});

it('an undocumented response is detected', async () => {
  const answer = Response.json({ id: 'x', title: 7 }, { headers: { 'x-request-id': 'not valid!' } });
  const found = await contract.violations('/api/info', 'get', answer);
  expect(found.join('\n')).toMatch(/X-Request-Id[^]*Server-Timing is missing[^]*title must be string/);
});
