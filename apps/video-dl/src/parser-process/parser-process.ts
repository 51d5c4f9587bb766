import { readManifest } from '../manifests/dash-manifest.js';
import { dashTable } from '../manifests/dash-segments.js';
import { readFfprobeReport } from './ffprobe-report.js';
import { readPlaylist } from '../manifests/hls-playlist.js';
import type { ParserJob, ParserResult } from './jobs.js';
import { readHead } from '../formats/head.js';
import { initialisationDigest } from '../formats/mp4/head.js';
import { Rejection } from '../formats/rejection.js';
import { remuxLayout, windowLayout } from '../formats/mp4/remux/remux.js';
import { readSubtitles } from '../formats/subtitles/read.js';

/**
 * Entry point of a parser process under the supervisor. Runs one job at a time and loads
 * nothing but parsers. Only the IPC channel keeps it alive, so it exits with its parent.
 */

interface RunMessage {
  readonly type: 'run';
  readonly id: number;
  readonly job: ParserJob;
}

/** Manifest elements other than those that list segments. */
const maxOtherElements = 12_000;

function run(job: ParserJob): ParserResult {
  switch (job.kind) {
    case 'playlist':
      return { job: job.kind, result: readPlaylist(textOf(job.bytes), job) };
    case 'manifest': {
      const manifest = readManifest(textOf(job.bytes), maxOtherElements + 2 * job.maxSegments);
      return { job: job.kind, result: dashTable(manifest, job) };
    }
    case 'initialisation':
      return { job: job.kind, result: initialisationDigest(viewOf(job.bytes), job.readsAudioOnly) };
    case 'head':
      return { job: job.kind, result: readHead(job.pieces, job.totalBytes, job.hasRanges) };
    case 'remux':
      return { job: job.kind, result: remuxLayout(job.files, job.tags) };
    case 'window':
      return { job: job.kind, result: windowLayout(job.files, job, job.tags) };
    case 'subtitles':
      return { job: job.kind, result: readSubtitles(job.files, job.format) };
    case 'ffprobe':
      return { job: job.kind, result: readFfprobeReport(textOf(job.bytes)) };
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function textOf(bytes: Uint8Array): string {
  return viewOf(bytes).toString('utf8');
}

function attempt({ id, job }: RunMessage): object {
  try {
    return { id, ok: true, result: run(job) };
  } catch (error) {
    if (error instanceof Rejection)
      return { id, ok: false, error: { code: error.code, detail: error.message } };
    return { id, ok: false, error: { mistake: error instanceof Error ? error.stack : String(error) } };
  }
}

function isRun(message: unknown): message is RunMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'run';
}

process.on('message', (message) => {
  if (isRun(message)) process.send?.(attempt(message));
});
process.send?.({ type: 'ready' });
