/** Validates the settings without starting anything. Exits with code 78 if any is invalid. */
import { checkConfig, loadConfig } from '@media-services/http-common';
import { configSchema } from './config.js';

checkConfig(() => loadConfig(configSchema));
