import { translate } from './texts.js';

/** Shows the page in its language, and lets the reader choose another one. */
export function offerLanguages(select) {
  const root = document.documentElement;
  if (root.lang !== 'en') translate(document);
  root.classList.remove('is-translating');
  select.value = root.lang.split('-')[0];
  select.addEventListener('change', () => {
    try {
      localStorage.setItem('language', select.value);
    } catch {
      // Without storage the choice can't be remembered.
    }
    location.reload();
  });
}
