import { brokenPromise } from '../../upstream/transfer-fault.js';

/** Something that a playlist names. */
export interface PlaylistEntry {
  readonly role: 'playlist' | 'segment' | 'map' | 'key';
  readonly url: string;
  /** The part of the object that is meant; null is all of it. */
  readonly window: { readonly start: number; readonly end: number } | null;
  /** File extension under which ffmpeg gets it; newer ones refuse those that do not fit the content. */
  readonly extension: string;
}

/** @throws TransferFault when it is not a web address */
export function resolveAddress(uri: string, baseUrl: string): string {
  const url = uri !== '' && URL.canParse(uri, baseUrl) ? new URL(uri, baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw brokenPromise('sent a playlist with an address that is not a web address');
  }
  url.username = '';
  url.password = '';
  return url.href;
}

const known = new Set([
  'ts',
  'm2ts',
  'mts',
  'mp4',
  'm4s',
  'm4a',
  'm4v',
  'cmfv',
  'cmfa',
  'aac',
  'mp3',
  'ac3',
  'ec3',
  'eac3',
]);

/** The extension in an address if it is one of media. */
export function mediaExtension(url: string, otherwise: string): string {
  const extension = /\.([a-z0-9]{2,4})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? '';
  return known.has(extension) ? extension : otherwise;
}
