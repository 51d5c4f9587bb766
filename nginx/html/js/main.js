import { showKeptKey } from './access-key.js';
import { byId } from './dom.js';
import { takeFiles } from './image/file-intake.js';
import { ImageTool } from './image/image-tool.js';
import { ServiceStatus } from './service-status.js';
import { offerLanguages } from './texts.js';
import { urlIn, urlsIn } from './video/look-up.js';
import { VideoTool } from './video/video-tool.js';

offerLanguages(byId('language'));

const videoTool = new VideoTool();
const imageTool = new ImageTool();

// An image above a limit is made smaller, so one chosen early waits for the limits, but not for long.
const status = new ServiceStatus((limits) => imageTool.know(limits)).watch();
const ready = Promise.race([status, new Promise((resolve) => setTimeout(resolve, 5000))]);
takeFiles((files) => ready.then(() => imageTool.open(files)));

// Links pasted or dropped anywhere outside a text field are meant for the video tool.
document.addEventListener('paste', (event) => openLinks(event, event.clipboardData));
document.addEventListener('drop', (event) => openLinks(event, event.dataTransfer));
document.addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('text/uri-list')) event.preventDefault();
});

function openLinks(event, data) {
  if (event.defaultPrevented || event.target.closest?.('[type="text"], [type="password"]')) return;
  const urls = urlsIn(data?.getData('text/uri-list') || data?.getData('text/plain') || '');
  if (urls.length === 0) return;
  event.preventDefault();
  if (urls.length === 1) videoTool.open(urls[0]);
  else videoTool.openAll(urls);
}

// A link to a result, or a URL shared to the installed page; apps put it into any of the three
// parameters.
const asked = new URLSearchParams(location.search);
const shared = ['url', 'text', 'title'].map((name) => asked.get(name)).filter(Boolean);
const url = shared.map((text) => urlIn(text)).find(Boolean);
const part = ['item', 'start', 'end'].map((name) => [name, asked.get(name) ?? undefined]);
const field = byId('video-url');
// What was typed before this code was loaded stays.
if (field.value === '') {
  if (url !== undefined) videoTool.open(url, Object.fromEntries(part));
  else field.value = shared[0] ?? '';
}

showKeptKey(byId('kept-key'));
