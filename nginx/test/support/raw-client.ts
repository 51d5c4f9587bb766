import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends raw bytes and reads until the server closes the connection. */
export function sendRaw(port: number, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject);
    socket.once('close', () => {
      resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]), text });
    });
  });
}

/** The status of a GET from another local IP address; the body is not read. */
export async function statusFrom(port: number, localAddress: string, path: string): Promise<number> {
  const request = get({ host: '127.0.0.1', port, path, localAddress, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined); // its own end, below
  response.destroy();
  return response.statusCode ?? 0;
}
