export { createDownloadEngine, locatePython, type DownloadEngine, type EngineProgram } from './engine.js';
export { createProbeSource } from './media-header.js';
export { SourceHeads, type HeadOptions, type SourceHead } from './source-heads.js';
export { ExtractionService } from './service.js';
export { parsePageUrl, type PageUrl } from './page-url.js';
export { downloadTargets, mapSelections, type Extraction, type Format, type Target } from './types.js';
export { parseExtractorArguments } from './extractor-arguments.js';
export { PotBridge } from './pot-bridge.js';
export { EngineUpdater } from './update.js';
