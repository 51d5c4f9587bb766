import { accessKey, keepAccessKey } from './access-key.js';
import { make } from './dom.js';
import { text } from './texts.js';

let count = 0;

/** A field for the key, where the server asks for one; `onKey` is called when it is kept. */
export function accessKeyForm(onKey) {
  const id = `access-key-${++count}`;
  const field = make('input', {
    id,
    type: 'password',
    required: true,
    autocomplete: 'off',
    spellcheck: false,
  });
  const form = make(
    'form',
    { className: 'key-form' },
    make('label', { htmlFor: id }, text(accessKey() === '' ? 'key.label' : 'key.other')),
    field,
    make('button', { type: 'submit', className: 'button primary' }, text('key.use')),
    make('small', {}, text('key.help')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const key = field.value.trim();
    if (key === '') return;
    keepAccessKey(key);
    onKey();
  });
  return form;
}

/** Shows in `line` whether a key is kept here; its button erases it. */
export function showKeptKey(line) {
  const show = () => (line.hidden = accessKey() === '');
  line.querySelector('button').addEventListener('click', () => keepAccessKey(''));
  addEventListener('accesskeychange', show);
  show();
}
