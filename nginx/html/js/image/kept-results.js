/** @typedef {import('./queued-image.js').Stroke} Stroke */
/** @typedef {Omit<import('./queued-image.js').Kept, 'strokes'>} Finished */
/** @typedef {Finished & { tab: string, at: number }} Result */

const resultsStore = 'results';
/** Beside the results, so that a stroke doesn't write its image again. */
const strokesStore = 'strokes';
const tabName = 'tab';
/** Age after which we delete results of other tabs, if we can't know which are open. */
const maxAgeMs = 24 * 3600_000;
/** While a tab is loaded again, it isn't known to be open. */
const reloadMs = 600_000;
/** A duplicated tab has the other one's name, whose lock doesn't become free. */
const lockWaitMs = 1000;

/**
 * Finished cut-outs, kept in this browser so that a reload doesn't lose them. Each tab
 * has its own; they are removed with the image, or once the tab has been closed.
 * Without storage (private windows, a full disk) nothing is kept.
 */
export class KeptResults {
  /** @type {Promise<IDBDatabase> | undefined} */
  #database;
  #tab = tabId();

  async keep(/** @type {Finished} */ result) {
    const tab = await this.#tab;
    await this.#change(resultsStore, (store) => store.put({ ...result, tab, at: Date.now() }));
  }

  async keepStrokes(/** @type {string} */ id, /** @type {Stroke[]} */ strokes) {
    await this.#change(strokesStore, (store) => store.put({ id, strokes }));
  }

  async forget(/** @type {string} */ id) {
    for (const name of [resultsStore, strokesStore]) await this.#change(name, (store) => store.delete(id));
  }

  /** The results of this tab, oldest first. @returns {Promise<import('./queued-image.js').Kept[]>} */
  async restore() {
    try {
      const tab = await this.#tab;
      /** @type {Result[]} */
      const all = await this.#run(resultsStore, 'readonly', (store) => store.getAll());
      /** @type {{ id: string, strokes: Stroke[] }[]} */
      const painted = await this.#run(strokesStore, 'readonly', (store) => store.getAll());
      const strokesOf = (/** @type {string} */ id) => painted.find((each) => each.id === id)?.strokes ?? [];
      const alive = await openTabs();
      const isOver = (/** @type {Result} */ { tab: owner, at }) =>
        owner !== tab && !alive?.has(owner) && Date.now() - at > (alive ? reloadMs : maxAgeMs);
      for (const { id } of all.filter(isOver)) await this.forget(id);
      return all
        .filter((kept) => kept.tab === tab)
        .sort((left, right) => left.at - right.at)
        .map(({ tab: _tab, at: _at, ...kept }) => ({ ...kept, strokes: strokesOf(kept.id) }));
    } catch {
      return [];
    }
  }

  async #change(/** @type {string} */ name, /** @type {(store: IDBObjectStore) => IDBRequest} */ change) {
    try {
      await this.#run(name, 'readwrite', change);
    } catch {
      // See above.
    }
  }

  /**
   * @template T
   * @param {string} name @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest<T>} request
   */
  async #run(name, mode, request) {
    this.#database ??= opened();
    const store = (await this.#database).transaction(name, mode).objectStore(name);
    return settled(request(store));
  }
}

function opened() {
  const request = indexedDB.open('cut-outs', 2);
  request.addEventListener('upgradeneeded', () => {
    const { result } = request;
    for (const name of [resultsStore, strokesStore]) {
      if (!result.objectStoreNames.contains(name)) result.createObjectStore(name, { keyPath: 'id' });
    }
  });
  return settled(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

/** Identifies this tab across reloads. A lock with its name is held while the page is open. */
async function tabId() {
  const fresh = `${Date.now()}-${Math.random()}`;
  try {
    const known = sessionStorage.getItem(tabName);
    const id = known !== null && (await holdsLock(known)) ? known : fresh;
    if (id === fresh) await holdsLock(id);
    sessionStorage.setItem(tabName, id);
    return id;
  } catch {
    return fresh;
  }
}

/** Takes a tab's lock for as long as the page is open. @returns {Promise<boolean>} whether it was free */
function holdsLock(/** @type {string} */ id) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(lockWaitMs);
    const held = navigator.locks.request(`${tabName} ${id}`, { signal }, () => {
      resolve(true);
      return new Promise(() => undefined);
    });
    held.catch(() => resolve(false));
  });
}

/** The open tabs; undefined if the browser doesn't support it. */
async function openTabs() {
  if (!navigator.locks) return undefined;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.map(({ name = '' }) => name.replace(`${tabName} `, '')));
}
