import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { DomainError } from '@media-services/http-common';
import { abortReason } from './deadline.js';
import { hostForAuthority } from './host.js';

interface Hop {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * The operator's HTTP proxy (`http://` or `https://`, credentials in the URL).
 * Every connection, plain HTTP included, is asked for with CONNECT.
 */
export class OutboundProxy {
  readonly #url: URL;
  readonly #authorization: string | undefined;

  /** @throws TypeError when the URL is not that of an HTTP proxy */
  constructor(url: string) {
    if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
      throw new TypeError('the outbound proxy must be an http:// or https:// URL');
    }
    this.#url = new URL(url);
    if (this.#url.username !== '') {
      const credentials = `${decodeURIComponent(this.#url.username)}:${decodeURIComponent(this.#url.password)}`;
      this.#authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
    }
  }

  /**
   * Opens a tunnel to the first of `hosts` that the proxy reaches.
   * @throws DomainError `upstream_unreachable` | `upstream_timeout`; `signal.reason`
   */
  async connect(hosts: readonly string[], port: number, hop: Hop): Promise<Socket> {
    let failure: unknown;
    for (const host of hosts) {
      try {
        return await this.#tunnel(`${hostForAuthority(host)}:${port}`, hop);
      } catch (error) {
        if (hop.signal?.aborted) throw error;
        failure ??= error;
      }
    }
    throw failure;
  }

  #tunnel(authority: string, { signal, timeoutMs }: Hop): Promise<Socket> {
    const { protocol, hostname, port } = this.#url;
    const send = protocol === 'https:' ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortReason(signal));
        return;
      }
      const request = send({
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
        method: 'CONNECT',
        path: authority,
        agent: false,
        headers: {
          host: authority,
          ...(this.#authorization && { 'proxy-authorization': this.#authorization }),
        },
      });
      const settle = (outcome: () => void) => {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', onAbort);
        outcome();
      };
      const fail = (error: Error) => settle(() => reject(error));
      const onAbort = () => request.destroy(abortReason(signal));
      const onLate = () => request.destroy(failed('upstream_timeout', 'did not answer in time'));
      const deadline = setTimeout(onLate, timeoutMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      request.once('connect', (response, socket: Socket, head) => {
        if (response.statusCode !== 200) {
          socket.destroy();
          fail(failed('upstream_unreachable', `refused the connection (HTTP ${response.statusCode ?? 0})`));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        socket.setNoDelay(true);
        settle(() => resolve(socket));
      });
      request.once('response', (response) => {
        response.destroy();
        fail(failed('upstream_unreachable', `does not take CONNECT (HTTP ${response.statusCode ?? 0})`));
      });
      request.on('error', (error) =>
        fail(
          error instanceof DomainError || signal?.aborted
            ? error
            : failed('upstream_unreachable', 'cannot be reached', error),
        ),
      );
      request.end();
    });
  }
}

function failed(code: 'upstream_timeout' | 'upstream_unreachable', what: string, cause?: Error): DomainError {
  return new DomainError(code, `The site could not be reached: the outbound proxy of this service ${what}.`, {
    cause,
  });
}
