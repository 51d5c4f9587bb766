import { accessKeyForm } from './access-key.js';
import { bringIntoView, find, fromTemplate, make, setBreakable } from './dom.js';
import { formatSeconds } from './format.js';
import { userMessage } from './problem.js';
import { text } from './texts.js';

/** Shows a tool's problem and how to fix it. */
export class ProblemPanel {
  #slot;
  #field;
  #timer;

  /** @param field the field that gets the focus when the user closes the message */
  constructor(slot, field) {
    this.#slot = slot;
    this.#field = field;
  }

  clear() {
    clearInterval(this.#timer);
    this.#slot.replaceChildren();
  }

  /**
   * @param problem see problem.js
   * @param options `retry` repeats the action, automatically if `isAutomatic`; `onClose` runs
   *   when the user closes the message
   */
  show(problem, { retry, onClose, isAutomatic = false } = {}) {
    this.clear();
    const panel = fromTemplate('problem-template');
    const { title, detail } = userMessage(problem);
    find(panel, 'h3').textContent = title;
    setBreakable(find(panel, '.problem-detail'), detail);
    find(panel, '.problem-fields').append(...fieldLines(problem));
    describe(panel, problem);
    this.#offerRetry(find(panel, '.problem-retry'), problem, retry, isAutomatic);
    const askForKey = problem.code === 'unauthorized' && retry !== undefined;
    if (askForKey) find(panel, '.problem-actions').before(this.#keyForm(retry));
    find(panel, '.problem-close').addEventListener('click', () => {
      this.clear();
      this.#field?.focus();
      onClose?.();
    });
    this.#slot.append(panel);
    bringIntoView(panel);
    if (askForKey) find(panel, '.key-form input').focus({ preventScroll: true });
  }

  #keyForm(retry) {
    return accessKeyForm(() => {
      this.clear();
      retry();
    });
  }

  #offerRetry(button, problem, retry, isAutomatic) {
    if (retry === undefined || problem.retryable === false) {
      button.remove();
      return;
    }
    const again = () => {
      // First, so that it can move the focus from this button.
      retry();
      this.clear();
    };
    button.addEventListener('click', again);
    const { retryAfterSeconds } = problem;
    if (retryAfterSeconds > 0) this.#countDown(button, retryAfterSeconds, isAutomatic ? again : undefined);
  }

  /** Disables the button until the server accepts the next request. */
  #countDown(button, seconds, onEnd) {
    const readyAt = performance.now() + seconds * 1000;
    const tick = () => {
      const left = Math.ceil((readyAt - performance.now()) / 1000);
      button.disabled = left > 0;
      const waiting = onEnd ? 'problem.continuesIn' : 'problem.retryIn';
      button.textContent = left > 0 ? text(waiting, { time: formatSeconds(left) }) : text('problem.retry');
      if (left > 0) return;
      clearInterval(this.#timer);
      onEnd?.();
    };
    tick();
    this.#timer = setInterval(tick, 250);
  }
}

/** One line per invalid field or file, unless the detail already says it. */
function fieldLines({ errors, detail }) {
  if (!Array.isArray(errors) || errors.length < 2) return [];
  return errors
    .filter(({ message }) => !detail.includes(message))
    .map(({ field, message }) => {
      const line = make('li');
      setBreakable(line, `${field} ${message}`.trim().replaceAll('`', ''));
      return line;
    });
}

function describe(panel, { type, requestId }) {
  const link = find(panel, '.problem-link');
  const reference = find(panel, '.problem-reference');
  const hasLink = typeof type === 'string' && /^(https?:\/\/|\/|docs\/)/.test(type);
  if (hasLink) link.href = type;
  else link.remove();
  if (requestId) find(reference, 'code').textContent = requestId;
  else reference.remove();
  if (!hasLink && !requestId) find(panel, '.problem-more').remove();
}
