import { byId } from './dom.js';

const names = { 'video-dl': 'video', 'bg-removal': 'images' };
const words = {
  ok: 'ready',
  degraded: 'ready, but limited',
  starting: 'starting',
  draining: 'restarting',
  error: 'not working',
  down: 'not reachable',
};
const refreshMs = 60_000;
const refreshWhileStartingMs = 3000;

function sentence(services) {
  const entries = Object.entries(services);
  if (entries.every(([, { status }]) => status === 'ok')) return 'Both tools are ready';
  return entries
    .map(([name, { status }]) => `${names[name] ?? name}: ${words[status] ?? status}`)
    .join(' · ')
    .replace(/^./, (letter) => letter.toUpperCase());
}

/** Tells in the footer whether the services behind the page are well. */
export async function showServiceStatus() {
  const line = byId('service-status');
  const text = byId('service-status-text');
  const show = (status, words) => {
    line.dataset.status = status;
    text.textContent = words;
  };
  let next = refreshMs;
  try {
    const response = await fetch('/api/health', { cache: 'no-store' });
    const { status, services } = await response.json();
    show(status, sentence(services));
    if (status === 'error') next = refreshWhileStartingMs;
  } catch {
    // Whatever is between here and the services: for the reader it is one thing.
    show('error', 'The server cannot be reached');
  }
  setTimeout(() => void showServiceStatus(), next);
}
