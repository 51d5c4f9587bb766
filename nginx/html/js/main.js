import { showKeptKey } from './access-key-form.js';
import { byId } from './dom.js';
import { takeFiles } from './image/file-intake.js';
import { ImageTool } from './image/image-tool.js';
import { ServiceStatus } from './service-status.js';
import { addressIn } from './video/address.js';
import { VideoTool } from './video/video-tool.js';

const videoTool = new VideoTool();
const imageTool = new ImageTool();

takeFiles((files) => imageTool.open(files));

// An address pasted anywhere outside a text field is meant for the video tool.
document.addEventListener('paste', (event) => {
  if (event.defaultPrevented || event.target.closest?.('input[type="text"]')) return;
  const address = addressIn(event.clipboardData?.getData('text/plain') ?? '');
  if (address === undefined) return;
  event.preventDefault();
  videoTool.open(address);
});

// A link to a look-up, or what a phone shares with the installed page: apps put the address into any of the three.
const asked = new URLSearchParams(location.search);
const shared = ['url', 'text', 'title'].map((name) => asked.get(name)).filter(Boolean);
const address = shared.map(addressIn).find(Boolean);
if (address !== undefined) videoTool.open(address);
else if (shared.length > 0) byId('video-url').value = shared[0];

showKeptKey(byId('kept-key'));
new ServiceStatus((limits) => imageTool.know(limits)).watch();
