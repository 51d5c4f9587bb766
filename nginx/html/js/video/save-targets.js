import { saveBlob } from '../dom.js';
import { isAbort } from '../problem.js';

/** @typedef {import('./transfer.js').Target} Target */

/** A file that the user chose, written as it arrives. @implements {Target} */
export class FileTarget {
  #handle;
  /** @type {FileSystemWritableFileStream | undefined} */
  #writing;

  constructor(/** @type {FileSystemFileHandle} */ handle) {
    this.#handle = handle;
  }

  get fileName() {
    return this.#handle.name;
  }

  async write(/** @type {number} */ position, /** @type {Uint8Array<ArrayBuffer>} */ data) {
    this.#writing ??= await this.#handle.createWritable();
    await this.#writing.write({ type: 'write', position, data });
  }

  async empty() {
    this.#writing ??= await this.#handle.createWritable();
    await this.#writing.truncate(0);
  }

  async finish() {
    await this.#writing?.close();
  }

  /** Removes the incomplete file. A browser that can't do that leaves it. */
  async discard() {
    await this.#writing?.abort().catch(() => undefined);
    await this.#handle.remove?.().catch(() => undefined);
  }
}

/** Memory, from which the browser saves the complete file. @implements {Target} */
export class MemoryTarget {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #chunks = [];

  constructor(/** @type {string} */ fileName) {
    this.fileName = fileName;
  }

  async write(/** @type {number} */ _position, /** @type {Uint8Array<ArrayBuffer>} */ data) {
    this.#chunks.push(data);
  }

  async empty() {
    this.#chunks = [];
  }

  async finish() {
    const type = this.fileName.endsWith('.mp4') ? 'video/mp4' : 'audio/mpeg';
    saveBlob(new Blob(this.#chunks, { type }), this.fileName);
    this.#chunks = [];
  }

  async discard() {
    this.#chunks = [];
  }
}

/**
 * Asks the user where to save a file. Works only during a click.
 * @returns undefined if the page can't write files
 * @throws AbortError if the user chooses no file
 */
export async function chooseFile(/** @type {string} */ suggestedName) {
  if (typeof window.showSaveFilePicker !== 'function') return undefined;
  try {
    return await window.showSaveFilePicker({ suggestedName, id: 'downloads', startIn: 'downloads' });
  } catch (error) {
    if (isAbort(error)) throw error;
    // A policy forbids it, or no click came before. The browser can always download itself.
    return undefined;
  }
}

/** The same for a folder. */
export async function chooseFolder() {
  if (typeof window.showDirectoryPicker !== 'function') return undefined;
  try {
    return await window.showDirectoryPicker({ id: 'downloads', mode: 'readwrite', startIn: 'downloads' });
  } catch (error) {
    if (isAbort(error)) throw error;
    return undefined;
  }
}

/** @type {Promise<unknown>} */
let lastChoice = Promise.resolve();

/** Chooses one name after the other, so that two downloads never take the same one. */
export function freeFile(/** @type {FileSystemDirectoryHandle} */ folder, /** @type {string} */ wanted) {
  const choice = lastChoice.then(() => createFreeFile(folder, wanted));
  lastChoice = choice.catch(() => undefined);
  return choice;
}

/** Creates `film.mp4`, or `film (2).mp4` if that exists. */
async function createFreeFile(/** @type {FileSystemDirectoryHandle} */ folder, /** @type {string} */ wanted) {
  const [, stem, extension] = /^(.*?)(\.[^.]*)?$/su.exec(wanted) ?? [];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${stem} (${number})${extension ?? ''}`;
    try {
      await folder.getFileHandle(name);
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'NotFoundError') throw error;
      return folder.getFileHandle(name, { create: true });
    }
  }
}
