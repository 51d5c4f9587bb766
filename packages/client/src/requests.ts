import { connectionError, isRecord, responseError } from './errors.js';
import type { StreamOptions } from './options.js';

export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

const mediaTypes = /^(?:audio|image|video)\//i;
const ourTypes = /^(?:application\/json|(?:audio|image|video)\/)/i;

/** Sends requests to one gateway. */
export class Connection {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Resolves with any success of our services, and with 206 and 416.
   * @param path below the base URL, with its query
   * @throws MediaServicesError; `signal.reason` once aborted
   */
  async send(path: string, init: RequestInit): Promise<Response> {
    const { key, fetch, baseUrl } = this.#options;
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set('Authorization', `Bearer ${key}`);
    const { signal } = init;
    let response: Response;
    try {
      response = await fetch(new Request(baseUrl + path, { ...init, headers }));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw connectionError(baseUrl, error);
    }
    const isOurs = ourTypes.test(response.headers.get('Content-Type') ?? '');
    if ((response.ok && !isOurs) || failedByRedirect(response)) {
      // Another server's page, such as the login of a network.
      await response.body?.cancel();
      throw responseError(response, undefined);
    }
    return response;
  }

  /** Reads a response's JSON. Returns undefined if the body isn't JSON. @throws if the connection breaks while reading */
  async json(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw connectionError(this.#options.baseUrl, error);
    }
    return parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch follows a redirect to another origin without the key, and mostly with GET instead of POST. */
function failedByRedirect({ redirected, status }: Response): boolean {
  return redirected && [401, 404, 405].includes(status);
}

export function isMedia({ ok, headers }: Response): boolean {
  return ok && mediaTypes.test(headers.get('Content-Type') ?? '');
}

/** Distinguishes our JSON from another server's. */
export function isInfo(body: unknown): boolean {
  return (
    isRecord(body) &&
    typeof body.title === 'string' &&
    Array.isArray(body.downloads) &&
    body.downloads.every((each) => isRecord(each) && typeof each.target === 'string') &&
    Array.isArray(body.items)
  );
}

export function isHealth(body: unknown): boolean {
  return isRecord(body) && typeof body.status === 'string' && isRecord(body.services);
}

type Value = string | number | boolean | undefined;

/** `/path?name=value&…`, without undefined values. */
export function target(path: string, query: Readonly<Record<string, Value>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, textOf(value));
  }
  return `${path}?${parameters.toString()}`;
}

export function partOf({ item, start, end, chapter, lang, subtitles }: StreamOptions): Record<string, Value> {
  return { item, start, end, chapter, lang, subtitles };
}

export function formOf(image: Blob | URL, name: string, fields: Readonly<Record<string, Value>>): FormData {
  const form = new FormData();
  if (image instanceof URL) form.set('image_url', image.href);
  else form.set('file', image, name);
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) form.set(field, textOf(value));
  }
  return form;
}

/** Numbers have at most six decimals and no exponent, as the services expect. */
function textOf(value: string | number | boolean): string {
  return String(typeof value === 'number' ? Number(value.toFixed(6)) : value);
}
