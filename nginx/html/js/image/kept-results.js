const resultsStore = 'results';
/** Beside the results, so that a stroke doesn't write its image again. */
const strokesStore = 'strokes';
const tabName = 'tab';
/** Age after which we delete results of other tabs, if we can't know which are open. */
const maxAgeMs = 24 * 3600_000;

/**
 * Finished cut-outs, kept in this browser so that a reload doesn't lose them. Each tab
 * has its own; they are removed with the image, or once the tab has been closed.
 * Without storage (private windows, a full disk) nothing is kept.
 */
export class KeptResults {
  #database;
  #tab = tabId();

  /** @param result `{ id, file, png }` */
  async keep(result) {
    await this.#change(resultsStore, (store) => store.put({ ...result, tab: this.#tab, at: Date.now() }));
  }

  async keepStrokes(id, strokes) {
    await this.#change(strokesStore, (store) => store.put({ id, strokes }));
  }

  async forget(id) {
    for (const name of [resultsStore, strokesStore]) await this.#change(name, (store) => store.delete(id));
  }

  /** The results of this tab, oldest first. */
  async restore() {
    try {
      const all = await this.#run(resultsStore, 'readonly', (store) => store.getAll());
      const painted = await this.#run(strokesStore, 'readonly', (store) => store.getAll());
      const strokesOf = (id) => painted.find((each) => each.id === id)?.strokes ?? [];
      const alive = await openTabs();
      const isOver = ({ tab, at }) =>
        tab !== this.#tab && (alive ? !alive.has(tab) : Date.now() - at > maxAgeMs);
      for (const { id } of all.filter(isOver)) await this.forget(id);
      return all
        .filter(({ tab }) => tab === this.#tab)
        .sort((left, right) => left.at - right.at)
        .map((kept) => ({ ...kept, strokes: strokesOf(kept.id) }));
    } catch {
      return [];
    }
  }

  async #change(name, change) {
    try {
      await this.#run(name, 'readwrite', change);
    } catch {
      // See above.
    }
  }

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

function settled(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

/** Identifies this tab across reloads, and holds a lock with that name while the page is open. */
function tabId() {
  try {
    const id = sessionStorage.getItem(tabName) ?? `${Date.now()}-${Math.random()}`;
    sessionStorage.setItem(tabName, id);
    void navigator.locks?.request(`${tabName} ${id}`, { mode: 'shared' }, () => new Promise(() => undefined));
    return id;
  } catch {
    return String(Math.random());
  }
}

/** The open tabs; undefined if the browser doesn't support it. */
async function openTabs() {
  if (!navigator.locks) return undefined;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.map(({ name }) => name.replace(`${tabName} `, '')));
}
