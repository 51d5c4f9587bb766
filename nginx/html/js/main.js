import { showKeptKey } from './access-key.js';
import { Connection } from './connection.js';
import { byId } from './dom.js';
import { makeControls } from './image/controls.js';
import { takeFiles } from './image/file-intake.js';
import { ImageTool } from './image/image-tool.js';
import { RequestQueue } from './request-queue.js';
import { showServiceStatus } from './service-status.js';
import { Stage } from './stage.js';
import { urlIn, urlsIn } from './video/links.js';
import { VideoTool } from './video/video-tool.js';

/** An image above a limit is made smaller, so one chosen early waits for the limits, but not for long. */
const maxLimitsWaitMs = 5000;

makeControls();

const connection = new Connection();
const queue = new RequestQueue(connection);
const showStatus = showServiceStatus(connection, () => queue.hasWaiting);
queue.watch(showStatus);
const stage = new Stage((entry) => open(entry));
const videoTool = new VideoTool(stage, queue);

const ready = Promise.race([
  connection.ask(),
  new Promise((resolve) => setTimeout(resolve, maxLimitsWaitMs)),
]);
const imageTool = new ImageTool(stage, queue, ready);
connection.watch(() => {
  const limits = connection.health?.services['bg-removal']?.limits;
  if (limits) imageTool.know(limits);
});
takeFiles((files) => void imageTool.open(files));

// Links pasted or dropped anywhere outside a text field are meant for the video tool.
document.addEventListener('paste', (event) => openLinks(event, event.clipboardData));
document.addEventListener('drop', (event) => openLinks(event, event.dataTransfer));
document.addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('text/uri-list')) event.preventDefault();
});

function openLinks(/** @type {Event} */ event, /** @type {DataTransfer | null} */ data) {
  const { target } = event;
  const isField = target instanceof Element && target.closest('[type="text"], [type="password"]');
  if (event.defaultPrevented || isField) return;
  const urls = urlsIn(data?.getData('text/uri-list') || data?.getData('text/plain') || '');
  const [url] = urls;
  if (url === undefined) return;
  event.preventDefault();
  if (urls.length === 1) videoTool.open(url);
  else videoTool.openAll(urls);
}

/** Shows what an entry of the browser's history stands for. */
function open(/** @type {import('./stage.js').Entry} */ { view, links }) {
  const asked = new URLSearchParams(location.search);
  const url = asked.get('url');
  if (view === 'image') return;
  if (links) videoTool.showAll(links);
  else if (url) videoTool.show(url, partIn(asked));
  else if (view === 'video') videoTool.reset();
}

function partIn(/** @type {URLSearchParams} */ asked) {
  return Object.fromEntries(
    ['item', 'start', 'end'].flatMap((name) => (asked.has(name) ? [[name, asked.get(name)]] : [])),
  );
}

/** Opens what the page was opened for: an entry after a reload, a link to a result, or shared links. */
function openFirst() {
  const field = byId('video-url', HTMLInputElement);
  // What was typed before this code was loaded stays.
  if (field.value !== '') return;
  const entry = history.state ?? {};
  if (entry.view) {
    stage.show(entry.view);
    open(entry);
    return;
  }
  // Apps put a shared link into any of these parameters.
  const asked = new URLSearchParams(location.search);
  const shared = ['url', 'text', 'title']
    .map((name) => asked.get(name) ?? '')
    .filter((value) => value !== '');
  const urls = urlsIn(shared.join(' '));
  const url = shared.map((value) => urlIn(value)).find(Boolean);
  if (url === undefined) {
    field.value = shared[0] ?? '';
    return;
  }
  history.replaceState({ view: 'video', ...(urls.length > 1 && { links: urls }) }, '');
  stage.show('video');
  if (urls.length > 1) videoTool.showAll(urls);
  else videoTool.show(url, partIn(asked));
}

openFirst();
showKeptKey(byId('kept-key'));
document.documentElement.classList.add('is-ready');
