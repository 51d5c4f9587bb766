import { runMain } from '@media-services/http-common';
import { readConfig } from './config.js';
import { createVideoDlService } from './service.js';

await runMain(readConfig, createVideoDlService, 'video-dl');
