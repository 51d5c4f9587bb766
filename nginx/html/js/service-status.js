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
const refreshWhileDownMs = 3000;

/** Shows in the footer whether the services work, and passes on what they accept. */
export class ServiceStatus {
  #line = byId('service-status');
  #text = byId('service-status-text');
  #onLimits;
  #timer;

  /** @param onLimits called with the known ones of `{ maxFileBytes, maxPixels, imagesPerMinute }` */
  constructor(onLimits) {
    this.#onLimits = onLimits;
    addEventListener('offline', () => this.#show('error', 'You are offline'));
    addEventListener('online', () => void this.watch());
  }

  async watch() {
    let next = refreshMs;
    try {
      const response = await fetch('api/health', { cache: 'no-store' });
      const { status, services } = await response.json();
      this.#show(status, sentence(services));
      const limits = services['bg-removal']?.checks?.upload;
      if (limits) this.#onLimits(limits);
      if (status === 'error') next = refreshWhileDownMs;
    } catch {
      this.#show('error', navigator.onLine ? 'Can’t reach the server' : 'You are offline');
      next = refreshWhileDownMs;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.watch(), next);
  }

  #show(status, text) {
    this.#line.dataset.status = status;
    this.#text.textContent = text;
  }
}

function sentence(services) {
  const entries = Object.entries(services);
  if (entries.every(([, { status }]) => status === 'ok')) return 'Both tools are ready';
  return entries
    .map(([name, { status }]) => `${names[name] ?? name}: ${words[status] ?? status}`)
    .join(' · ')
    .replace(/^./, (letter) => letter.toUpperCase());
}
