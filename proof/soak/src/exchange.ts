import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** How a response arrived at its client. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the response was complete; false if the connection broke. */
  readonly isWhole: boolean;
}

export interface Exchange {
  readonly url: string;
  /** The client's IP address, as a trusted proxy reports it to the gateway. */
  readonly client: string;
  readonly upload?: Upload | undefined;
  /** Bytes per second that the client reads; unlimited by default. */
  readonly bytesPerSecond?: number;
  /** The client leaves. */
  readonly signal?: AbortSignal;
}

/** A form in its wire format. */
export interface Upload {
  readonly contentType: string;
  readonly body: Buffer;
}

let clients = 0;

/** An unused IP address, so that no limit per client is reached. */
export function newClient(): string {
  clients += 1;
  return `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`;
}

/** Sends a request on its own connection. @throws if it breaks, or the client leaves, before the response's headers */
export function begin({ url, client, upload, signal }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent: false,
        method: upload === undefined ? 'GET' : 'POST',
        headers: {
          'x-forwarded-for': client,
          ...(upload && { 'content-type': upload.contentType, 'content-length': upload.body.length }),
        },
        ...(signal && { signal }),
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(upload?.body);
  });
}

/** A whole exchange; status 0 if the connection breaks before the headers. */
export async function exchange(options: Exchange): Promise<Answer> {
  const response = await begin(options).catch(() => undefined);
  if (response === undefined) return { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false };
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (options.bytesPerSecond !== undefined)
        await delay((chunk.length / options.bytesPerSecond) * 1000, undefined, { signal: options.signal });
    }
  } catch {
    // `complete` says how it ended.
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks),
    isWhole: response.complete,
  };
}

/** A form with one file, or with none. */
export async function imageUpload(file?: { readonly bytes: Buffer; readonly name: string }): Promise<Upload> {
  const form = new FormData();
  if (file === undefined) form.set('threshold', '12');
  else form.set('file', new Blob([new Uint8Array(file.bytes)]), file.name);
  const encoded = new Response(form);
  return {
    contentType: encoded.headers.get('content-type') ?? '',
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}
