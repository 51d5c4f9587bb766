import { accessKey } from '../access-key.js';

/** Fills the request for a shell with what its form has now; see try-it.ts of the docs generator. */
export function showCurlLine(form) {
  const line = form.querySelector('.curl');
  for (const part of line.querySelectorAll('[data-when]')) {
    const name = part.dataset.when;
    const text = name === 'key' ? accessKey() : valueOf(fieldCalled(form, name));
    const place = part.querySelector('[data-field]');
    const isNeeded = name !== 'key' && fieldCalled(form, name).required;
    part.hidden = text === '' && !isNeeded;
    // What a shell takes between single quotes as it is, but for such a quote itself.
    if (place && text !== '') place.textContent = text.replaceAll("'", "'\\''");
  }
}

/** The field of a parameter, in whatever part of the request it goes. */
function fieldCalled(form, name) {
  return form.querySelector(`[name="${name}"], [data-header="${name}"]`);
}

function valueOf(field) {
  return field.type === 'file' ? (field.files[0]?.name ?? '') : field.value.trim();
}
