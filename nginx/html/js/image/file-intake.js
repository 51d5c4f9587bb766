import { byId } from '../dom.js';

/** Passes the files that the user drops, pastes or chooses to `open`. */
export function takeFiles(open) {
  const chooser = byId('image-file');
  const takeChosen = () => {
    const files = [...chooser.files];
    // Allow choosing the same file again.
    chooser.value = '';
    open(files);
  };
  chooser.addEventListener('change', takeChosen);
  // A file may have been chosen before this code was loaded.
  if (chooser.value) takeChosen();

  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    // A copied table cell is both a text and an image; a link in it has been taken.
    if (event.defaultPrevented || files.length === 0) return;
    event.preventDefault();
    open(files);
  });
  takeDrops(open);
}

/** Makes the whole page a drop target. */
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
    open([...event.dataTransfer.files]);
  });
}
