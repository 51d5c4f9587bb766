/** A file that is being received. */
export interface Media {
  /** The name the service suggests, safe to use in any folder. */
  readonly fileName: string;
  readonly contentType: string;
  /**
   * Size of the whole file in bytes, if the service knows it: exact for images and files,
   * otherwise an estimate.
   */
  readonly expectedBytes: number | undefined;
  readonly durationSeconds: number | undefined;
  /** How many more requests this client may send, if the service limits them. */
  readonly rateLimit: RateLimit | undefined;
  /** Where `body` starts within the file: above 0 only when the request resumed a download. */
  readonly startByte: number;
  /** Identifies this version of the file. Undefined if the download can't be resumed. */
  readonly etag: string | undefined;
  /** Closes only once the whole file has arrived; otherwise it fails with `stream_broken`. */
  readonly body: ReadableStream<Uint8Array>;
}

/** The `RateLimit` header (IETF draft 8). */
export interface RateLimit {
  readonly remaining: number;
  /** Seconds until the service accepts one more request. */
  readonly resetSeconds: number;
}

/** The first bytes that an earlier request received, and the file version they belong to. */
export interface ReceivedPart {
  readonly bytes: number;
  readonly etag: string;
}

/** @param receivedBytes includes the bytes of a resumed download */
export type Progress = (receivedBytes: number, expectedBytes: number | undefined) => void;

/** Everything but the body of a successful response that carries a file. */
export function describeMedia({ headers, status }: Response, fallbackName: string): Omit<Media, 'body'> {
  const rest = status === 206 ? restOf(headers) : undefined;
  const length = headers.get('Content-Length') ?? headers.get('Estimated-Content-Length');
  const etag = headers.get('ETag');
  const isResumable = headers.get('Accept-Ranges') === 'bytes' && etag?.startsWith('"') === true;
  return {
    fileName: fileNameOf(headers.get('Content-Disposition')) ?? fallbackName,
    contentType: headers.get('Content-Type') ?? 'application/octet-stream',
    expectedBytes: rest?.totalBytes ?? numberOf(length),
    durationSeconds: numberOf(headers.get('X-Content-Duration')),
    rateLimit: parseRateLimit(headers.get('RateLimit')),
    startByte: rest?.startByte ?? 0,
    etag: isResumable || rest !== undefined ? (etag ?? undefined) : undefined,
  };
}

/** The range of a partial response. Undefined unless it reaches the end of a file of known size. */
export function restOf(headers: Headers): { startByte: number; totalBytes: number } | undefined {
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get('Content-Range') ?? '');
  if (range === null) return undefined;
  const [startByte = 0, lastByte = 0, totalBytes = 0] = range.slice(1).map(Number);
  return lastByte + 1 === totalBytes ? { startByte, totalBytes } : undefined;
}

/** `"images-per-minute"; r=4; t=60` */
function parseRateLimit(header: string | null): RateLimit | undefined {
  const remaining = numberOf(/;\s*r=(\d+)/.exec(header ?? '')?.[1]);
  const resetSeconds = numberOf(/;\s*t=(\d+)/.exec(header ?? '')?.[1]);
  return remaining === undefined || resetSeconds === undefined ? undefined : { remaining, resetSeconds };
}

function numberOf(text: string | null | undefined): number | undefined {
  const value = text === null || text === undefined || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Characters with a special meaning in some file system or terminal, or that reverse the text after them. */
// oxlint-disable-next-line no-control-regex -- control characters are among them
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069<>:"/\\|?*]/g;
/** Names of devices on Windows, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])(?=\.|$)/i;
/** File systems allow 255; `.part.json` and a number follow. */
const maxNameBytes = 220;

/**
 * The file name in a `Content-Disposition` header (RFC 6266). Prefers the extended form, and
 * removes anything that could escape a folder.
 */
export function fileNameOf(contentDisposition: string | null): string | undefined {
  if (contentDisposition === null) return undefined;
  const extended = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(contentDisposition)?.[1];
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(contentDisposition);
  const name = decoded(extended) ?? plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2];
  return name === undefined ? undefined : safeFileName(name);
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded UTF-8; RFC 6266 defines the plain name as the fallback.
    return undefined;
  }
}

function safeFileName(name: string): string | undefined {
  const safe = name
    .replace(unsafe, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '')
    .replace(deviceName, '_$&')
    // Commands would read it as an option.
    .replace(/^-/, '_');
  if (safe === '') return undefined;
  const extension = /(?<=.)\.[^.\s]{1,20}$/.exec(safe)?.[0] ?? '';
  return limitedName(safe.slice(0, safe.length - extension.length), extension);
}

/** `stem` and `end` together, cut between two characters of the stem if they are too long for a file name. */
export function limitedName(stem: string, end: string): string {
  const encoder = new TextEncoder();
  let bytes = encoder.encode(end).length;
  let kept = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(stem)) {
    bytes += encoder.encode(segment).length;
    if (bytes > maxNameBytes) break;
    kept += segment;
  }
  return kept + end;
}
