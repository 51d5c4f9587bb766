export { createDownloadEngine, type DownloadEngine } from './download-engine.js';
export { ExtractionService } from './extraction-service.js';
export { parseVideoUrl } from './video-url.js';
export { targets, type Extraction, type Format, type Target } from './types.js';
