import { byId } from '../dom.js';

/** Gives every image that the reader drops, pastes or chooses to `open`. */
export function takeFiles(open) {
  const chooser = byId('image-file');
  chooser.addEventListener('change', () => {
    const [file] = chooser.files;
    // Choosing the same file again is a wish too.
    if (file) open(file);
    chooser.value = '';
  });
  byId('image-choose').addEventListener('click', () => chooser.click());

  document.addEventListener('paste', (event) => {
    const file = [...(event.clipboardData?.files ?? [])][0];
    if (file === undefined) return;
    event.preventDefault();
    open(file);
  });
  takeDrops(open);
}

/** The whole page is the target: nobody has to aim. */
function takeDrops(open) {
  const page = document.documentElement;
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
  const endDragging = () => page.classList.remove('dragging');

  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    page.classList.add('dragging');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) endDragging();
  });
  document.addEventListener('drop', (event) => {
    endDragging();
    if (!hasFiles(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) open(file);
  });
}
