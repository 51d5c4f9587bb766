import { showKeptKey } from './access-key-form.js';
import { byId } from './dom.js';
import { takeFiles } from './image/file-intake.js';
import { ImageTool } from './image/image-tool.js';
import { ServiceStatus } from './service-status.js';
import { urlIn } from './video/page-url.js';
import { VideoTool } from './video/video-tool.js';

const videoTool = new VideoTool();
const imageTool = new ImageTool();

takeFiles((files) => imageTool.open(files));

// A URL pasted anywhere outside a text field is meant for the video tool.
document.addEventListener('paste', (event) => {
  if (event.defaultPrevented || event.target.closest?.('input[type="text"]')) return;
  const url = urlIn(event.clipboardData?.getData('text/plain') ?? '');
  if (url === undefined) return;
  event.preventDefault();
  videoTool.open(url);
});

// A link to a look-up, or what a phone shares with the installed page: apps put the URL into any of the three.
const asked = new URLSearchParams(location.search);
const shared = ['url', 'text', 'title'].map((name) => asked.get(name)).filter(Boolean);
const url = shared.map(urlIn).find(Boolean);
if (url !== undefined) videoTool.open(url);
else if (shared.length > 0) byId('video-url').value = shared[0];

showKeptKey(byId('kept-key'));
new ServiceStatus((limits) => imageTool.know(limits)).watch();
