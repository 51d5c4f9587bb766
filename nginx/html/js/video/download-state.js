import { formatBytes, formatPercent, formatSeconds } from '../format.js';
import { userMessage } from '../problem.js';
import { joined, text } from '../texts.js';

/** @typedef {import('./download.js').Download} Download */
/** @typedef {import('./row.js').Shown & { suffix: string }} Shown with what follows the row's title */

/** What a row says about its download. @returns {Shown} */
export function shown(/** @type {Download} */ download) {
  const { state, wait, wanted, transfer, problem } = download;
  const share = shareOf(download);
  const cancel = { icon: 'close', label: text('common.cancel') };
  const again = { icon: 'retry', label: text('row.again') };
  switch (state) {
    case 'waiting': {
      const bar = share === undefined ? {} : { share };
      return {
        tone: 'wait',
        icon: 'clock',
        suffix: text('row.waiting'),
        state: reasonFor(wait),
        act: cancel,
        ...bar,
      };
    }
    case 'running': {
      if (transfer === undefined || transfer.receivedBytes === 0) break;
      const icon = wanted.extension === 'mp4' ? 'film' : 'note';
      const suffix = share === undefined ? '' : formatPercent(share);
      return { tone: 'run', icon, suffix, state: progress(download), share: share ?? 0, act: cancel };
    }
    case 'saved': {
      const bytes = transfer?.receivedBytes ?? wanted.bytes;
      const place = download.savedAs ?? text('row.inDownloads');
      const facts = joined([bytes !== undefined && formatBytes(bytes), place]);
      return { tone: 'done', icon: 'check', suffix: text('row.saved'), state: facts, act: again };
    }
    case 'started':
      return {
        tone: 'done',
        icon: 'check',
        suffix: text('row.started'),
        state: text('row.seeBrowser'),
        act: again,
      };
    case 'failed': {
      const title = problem ? userMessage(problem).title : '';
      const isSafe = transfer?.canResume === true;
      const safe = isSafe ? text('row.safe', { size: formatBytes(transfer.receivedBytes) }) : '';
      const suffix = share ? text('row.stoppedAt', { percent: formatPercent(share) }) : text('row.stopped');
      const act = { icon: 'retry', label: text(isSafe ? 'row.continue' : 'problem.retry'), isMain: true };
      return { tone: 'bad', icon: 'warn', suffix, state: [title, safe].filter(Boolean).join('. '), act };
    }
  }
  return { tone: 'busy', icon: 'spin', suffix: '', state: text('row.preparing'), act: cancel };
}

/** Why something waits, in words. */
export function reasonFor(/** @type {import('../request-queue.js').Wait | undefined} */ wait) {
  switch (wait?.why) {
    case 'limit': {
      const seconds = Math.max(1, Math.ceil((wait.until - Date.now()) / 1000));
      return text('row.continuesIn', { time: formatSeconds(seconds) });
    }
    case 'streams':
      return text('row.afterOthers', { n: wait.count });
    case 'connection':
      return text('row.waitsForServer');
    default:
      return text('row.next');
  }
}

/** How much has arrived, 0-1; undefined if unknown. */
function shareOf(/** @type {Download} */ { transfer, wanted }) {
  if (transfer === undefined) return undefined;
  const { receivedBytes, totalIsExact } = transfer;
  const total = transfer.totalBytes ?? wanted.bytes;
  // A file may be larger than estimated; a full bar while bytes still arrive would be wrong.
  return total ? Math.min(receivedBytes / total, totalIsExact ? 1 : 0.99) : undefined;
}

function progress(/** @type {Download} */ { transfer, wanted }) {
  if (transfer === undefined) return '';
  const { receivedBytes, totalBytes = wanted.bytes, totalIsExact } = transfer;
  const received = formatBytes(receivedBytes);
  if (!totalBytes) return received;
  const speed = transfer.measureSpeed();
  const left = speed && totalBytes > receivedBytes ? (totalBytes - receivedBytes) / speed : undefined;
  const values = { received, total: formatBytes(totalBytes) };
  return joined([
    left && text('tray.left', { time: formatSeconds(left) }),
    text(totalIsExact ? 'tray.received' : 'tray.receivedAbout', values),
  ]);
}
