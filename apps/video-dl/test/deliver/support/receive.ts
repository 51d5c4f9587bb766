import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';

export interface Answer {
  response: IncomingMessage;
  request: ClientRequest;
}

interface RequestOptions {
  method?: string;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

/** Sends a request and waits for the response headers. */
export function open(url: string, options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, ...options }, (response) =>
      resolve({ response, request: sent }),
    );
    sent.on('error', reject);
    sent.end();
  });
}

/** How a response ended for a client: complete, or truncated by a reset. */
export interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  complete: boolean;
}

/** @param onBegin called with the first byte */
export async function receive(
  url: string,
  options: RequestOptions = {},
  onBegin?: () => void,
): Promise<Received> {
  const { response } = await open(url, options);
  if (onBegin !== undefined) response.once('data', onBegin);
  const chunks: Buffer[] = [];
  const complete = await new Promise<boolean>((resolve) => {
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(response.complete));
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks),
    complete,
  };
}

/** Expects an error about the media or their site, or a response that is visibly cut off. */
export function expectNotWhole({ status, complete }: Pick<Received, 'status' | 'complete'>): void {
  expect([422, 502, 'reset']).toContain(status === 200 && !complete ? 'reset' : status);
}
