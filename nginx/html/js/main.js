import { ImageTool } from './image/image-tool.js';
import { takeFiles } from './image/file-intake.js';
import { showServiceStatus } from './service-status.js';
import { VideoTool } from './video/video-tool.js';

const videoTool = new VideoTool();
const imageTool = new ImageTool();

takeFiles((file) => imageTool.open(file));

// An address pasted anywhere outside a text field is meant for the video tool.
document.addEventListener('paste', (event) => {
  if (event.defaultPrevented || event.target.closest?.('input[type="text"]')) return;
  const text = event.clipboardData?.getData('text/plain').trim() ?? '';
  if (!/^https?:\/\/\S+$/i.test(text)) return;
  event.preventDefault();
  videoTool.open(text);
});

void showServiceStatus();
