import { showKeptKey } from '../access-key-form.js';
import { TryIt } from './try-it.js';

/** Where the gateway is, without a slash at the end: below a path of another server, it has one. */
const base = new URL('..', location.href).href.replace(/\/$/, '');
for (const place of document.querySelectorAll('[data-origin]')) place.textContent = base;
for (const form of document.querySelectorAll('form.try')) new TryIt(form);
showKeptKey(document.getElementById('kept-key'));

/** A link to an endpoint shows it unfolded. */
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener('hashchange', unfoldTarget);
unfoldTarget();
