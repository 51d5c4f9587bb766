import { byId, icon, make, setText } from './dom.js';
import { text } from './texts.js';

/** @typedef {import('./connection.js').Connection} Connection */

/** @type {Record<string, string>} */
const names = { 'video-dl': 'page.video', 'bg-removal': 'page.image' };
/** @type {Record<string, string>} */
const words = {
  ok: 'status.ok',
  degraded: 'status.degraded',
  starting: 'status.starting',
  draining: 'status.draining',
  error: 'status.error',
  down: 'status.down',
};

/**
 * Shows the services' status in the footer, and a notice while work waits for them.
 * @param {Connection} connection @param {() => boolean} hasWaiting
 */
export function showServiceStatus(connection, hasWaiting) {
  const line = byId('service-status');
  const notice = byId('notice');
  const show = () => {
    const { isOffline, health } = connection;
    line.dataset.status = isOffline ? 'error' : (health?.status ?? 'error');
    setText(byId('service-status-text'), sentence(connection));
    const isAway = hasWaiting() && (isOffline || health?.status !== 'ok');
    const key = isOffline ? 'notice.offline' : 'notice.starting';
    if (notice.dataset.key === (isAway ? key : '')) return;
    notice.dataset.key = isAway ? key : '';
    if (!isAway) notice.replaceChildren();
    else notice.replaceChildren(icon(isOffline ? 'offline' : 'clock'), make('p', {}, text(key)));
  };
  connection.watch(show);
  return show;
}

function sentence(/** @type {Connection} */ { isOffline, health }) {
  if (isOffline) return text('status.offline');
  if (health === undefined) return text('status.unreachable');
  const entries = Object.entries(health.services);
  if (entries.every(([, { status }]) => status === 'ok')) return text('status.ready');
  return entries
    .map(([name, { status }]) => {
      const value = text(words[status] ?? 'status.error');
      return text('common.colon', { name: text(names[name] ?? name), value });
    })
    .join(' · ');
}
