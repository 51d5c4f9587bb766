import { accessKey, accessKeyForm, settleAccessKey } from './access-key.js';
import { find, fromTemplate, isBusyOutside, make, setBreakable, setText } from './dom.js';
import { userMessage } from './problem.js';
import { text } from './texts.js';

/** @typedef {import('./problem.js').Problem} Problem */

/** Shows a tool's problem and how to fix it. */
export class ProblemPanel {
  #slot;
  #field;

  /**
   * @param {HTMLElement} slot
   * @param {HTMLElement} field gets the focus when the user closes the message
   */
  constructor(slot, field) {
    this.#slot = slot;
    this.#field = field;
  }

  clear() {
    this.#slot.replaceChildren();
  }

  /**
   * @param {Problem} problem
   * @param {{ retry?: () => void, onClose?: () => void }} options `onClose` runs when the user closes the message
   */
  show(problem, { retry, onClose } = {}) {
    this.clear();
    const panel = fromTemplate('problem-template');
    const hadKey = accessKey() !== '';
    const askForKey = problem.code === 'unauthorized' && retry !== undefined;
    const { title, detail } = askForKey && hadKey ? { ...problem, ...keyRejected() } : userMessage(problem);
    setText(find(panel, 'h2'), title);
    setBreakable(find(panel, '.problem-detail'), detail);
    find(panel, '.problem-fields').append(...fieldLines(problem));
    describe(panel, problem);
    const button = find(panel, '.problem-retry');
    if (retry === undefined || problem.retryable === false || askForKey) button.remove();
    button.addEventListener('click', () => {
      // First, so that it can move the focus from this button.
      retry?.();
      this.clear();
    });
    if (askForKey) {
      const form = accessKeyForm(hadKey, () => {
        this.clear();
        retry();
      });
      find(panel, '.problem-actions').before(form);
    }
    settleAccessKey(!askForKey);
    find(panel, '.problem-close').addEventListener('click', () => {
      this.clear();
      this.#field.focus();
      onClose?.();
    });
    const isElsewhere = isBusyOutside(this.#slot.parentElement ?? this.#slot);
    this.#slot.append(panel);
    if (!isElsewhere) panel.scrollIntoView({ block: 'nearest' });
    if (askForKey) find(panel, '.key-form input').focus({ preventScroll: true });
  }
}

function keyRejected() {
  return { title: text('key.rejected'), detail: text('key.rejectedDetail') };
}

/** One line per invalid field or file, unless the detail already says it. */
function fieldLines(/** @type {Problem} */ { errors, detail }) {
  if (!Array.isArray(errors) || errors.length < 2) return [];
  return errors
    .filter(({ message }) => !detail.includes(message))
    .map(({ field, message }) => {
      const line = make('li');
      setBreakable(line, `${field} ${message}`.trim().replaceAll('`', ''));
      return line;
    });
}

function describe(/** @type {HTMLElement} */ panel, /** @type {Problem} */ { type, requestId }) {
  const link = find(panel, '.problem-link', HTMLAnchorElement);
  const reference = find(panel, '.problem-reference');
  const hasLink = typeof type === 'string' && /^(https?:\/\/|\/|docs\/)/.test(type);
  if (hasLink) link.href = type;
  else link.remove();
  if (requestId) setText(find(reference, 'code'), requestId);
  else reference.remove();
  if (!hasLink && !requestId) find(panel, '.problem-more').remove();
}
