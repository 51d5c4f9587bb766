import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { sendFile } from '../server.js';

/** One simulated site. */
export interface Site {
  /** Host names of the site; a leading `*.` matches every name one label below. */
  readonly hosts: readonly string[];
  answer(exchange: Exchange): Promise<void>;
}

interface Answer {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request to a site, with methods to respond. */
export class Exchange {
  readonly url: URL;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(url: URL, request: IncomingMessage, response: ServerResponse) {
    this.url = url;
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  /** The request's cookies by name. */
  get cookies(): ReadonlyMap<string, string> {
    const pairs = (this.headers.cookie ?? '').split(/; */).filter(Boolean);
    return new Map(
      pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
  }

  /** The body of the request. */
  async text(): Promise<string> {
    let text = '';
    for await (const chunk of this.#request) text += String(chunk);
    return text;
  }

  html(body: string, more: Answer = {}): Promise<void> {
    return this.#send('text/html; charset=utf-8', `<!DOCTYPE html><html><body>${body}</body></html>`, more);
  }

  json(value: unknown, more: Answer = {}): Promise<void> {
    return this.#send('application/json', JSON.stringify(value), more);
  }

  /** A text of any type. */
  send(type: string, body: string, more: Answer = {}): Promise<void> {
    return this.#send(type, body, more);
  }

  /** Sends an error response. */
  refuse(status: number, body = ''): Promise<void> {
    return this.#send('text/plain', body, { status });
  }

  /** Sends a file with range support, like a good media server. */
  async file(path: string, type: string): Promise<void> {
    await sendFile(this.#request, this.#response, path, type);
  }

  #send(type: string, body: string, { status = 200, headers = {} }: Answer): Promise<void> {
    const length = Buffer.byteLength(body);
    this.#response.writeHead(status, { 'content-type': type, 'content-length': length, ...headers });
    return new Promise((resolve) => this.#response.end(body, resolve));
  }
}
