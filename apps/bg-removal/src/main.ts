import { loadConfig, runMain } from '@media-services/http-common';
import { configSchema } from './config.js';
import { createBgRemovalService } from './service.js';

await runMain(() => loadConfig(configSchema), createBgRemovalService, 'bg-removal');
