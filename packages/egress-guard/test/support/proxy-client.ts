import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

export interface ProxyResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/** Sends an absolute-form request through a proxy. */
export async function getThrough(
  proxyUrl: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<ProxyResponse> {
  const proxy = new URL(proxyUrl);
  const outgoing = request({
    host: proxy.hostname,
    port: proxy.port,
    path: target,
    agent: false,
    headers: { ...headers, ...authorization(proxy) },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, body, headers: response.headers };
}

/** Requests a tunnel from a proxy; `socket` is open if the status is 200. */
export async function tunnelThrough(
  proxyUrl: string,
  authority: string,
): Promise<{ status: number; socket: Socket }> {
  const proxy = new URL(proxyUrl);
  const outgoing = request({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: authorization(proxy),
  });
  outgoing.end();
  const [response, socket] = (await once(outgoing, 'connect')) as [IncomingMessage, Socket];
  socket.on('error', () => undefined);
  if (response.statusCode !== 200) socket.destroy();
  return { status: response.statusCode ?? 0, socket };
}

/** Sends raw bytes and returns the whole response. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

function authorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  return {
    'proxy-authorization': `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')}`,
  };
}
