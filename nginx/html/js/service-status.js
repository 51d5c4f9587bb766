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
/** While nothing works, the reader waits for this line. */
const refreshWhileDownMs = 3000;

/** Tells in the footer whether the services behind the page are well, and the page what they accept. */
export class ServiceStatus {
  #line = byId('service-status');
  #text = byId('service-status-text');
  #onLimits;

  /** @param onLimits told `{ maxFileBytes, maxPixels, imagesPerMinute }` as far as they are known */
  constructor(onLimits) {
    this.#onLimits = onLimits;
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
      // Whatever is between here and the services: for the reader it is one thing.
      this.#show('error', 'The server cannot be reached');
      next = refreshWhileDownMs;
    }
    setTimeout(() => void this.watch(), next);
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
