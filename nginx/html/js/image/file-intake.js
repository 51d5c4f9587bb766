import { byId } from '../dom.js';

/** Passes the files that the user drops, pastes or chooses to `open`. */
export function takeFiles(/** @type {(files: File[]) => void} */ open) {
  const chooser = byId('image-file', HTMLInputElement);
  const takeChosen = () => {
    const files = [...(chooser.files ?? [])];
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

/** Makes the whole page a drop target, also for folders. */
function takeDrops(/** @type {(files: File[]) => void} */ open) {
  const page = document.documentElement;
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files');
  const endDragging = () => page.classList.remove('dragging');

  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event) || event.dataTransfer === null) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    page.classList.add('dragging');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) endDragging();
  });
  document.addEventListener('drop', (event) => {
    endDragging();
    if (!hasFiles(event) || event.dataTransfer === null) return;
    event.preventDefault();
    const folders = [...event.dataTransfer.items]
      .map((item) => item.webkitGetAsEntry?.())
      .filter((entry) => entry?.isDirectory);
    const files = [...event.dataTransfer.files];
    if (folders.length === 0) open(files);
    else
      void filesIn(folders).then((inside) =>
        open([...files.filter(({ name }) => !folders.some((entry) => entry?.name === name)), ...inside]),
      );
  });
}

/** The images directly inside folders. @returns {Promise<File[]>} */
async function filesIn(/** @type {(FileSystemEntry | null | undefined)[]} */ folders) {
  const found = [];
  for (const folder of folders) {
    const reader = /** @type {FileSystemDirectoryEntry} */ (folder).createReader();
    /** @type {FileSystemEntry[]} */
    let entries;
    do {
      entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      for (const entry of entries) {
        const file = entry.isFile && (await fileOf(/** @type {FileSystemFileEntry} */ (entry)));
        if (file && /^image\//.test(file.type)) found.push(file);
      }
    } while (entries.length > 0);
  }
  return found;
}

/** @returns {Promise<File>} */
function fileOf(/** @type {FileSystemFileEntry} */ entry) {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}
