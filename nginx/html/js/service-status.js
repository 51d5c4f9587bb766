import { byId } from './dom.js';
import { text } from './texts.js';

const names = { 'video-dl': 'page.video', 'bg-removal': 'page.image' };
const words = {
  ok: 'status.ok',
  degraded: 'status.degraded',
  starting: 'status.starting',
  draining: 'status.draining',
  error: 'status.error',
  down: 'status.down',
};
const refreshMs = 60_000;
const refreshWhileDownMs = 3000;

/** Shows the services' status in the footer, and passes on their limits. */
export class ServiceStatus {
  #line = byId('service-status');
  #text = byId('service-status-text');
  #onLimits;
  #timer;

  /** @param onLimits called with the known values of `{ maxFileBytes, maxPixels, imagesPerMinute }` */
  constructor(onLimits) {
    this.#onLimits = onLimits;
    addEventListener('offline', () => this.#show('error', text('status.offline')));
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
      this.#show('error', text(navigator.onLine ? 'status.unreachable' : 'status.offline'));
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
  if (entries.every(([, { status }]) => status === 'ok')) return text('status.ready');
  return entries
    .map(([name, { status }]) =>
      text('common.colon', { name: text(names[name]), value: text(words[status] ?? words.error) }),
    )
    .join(' · ');
}
