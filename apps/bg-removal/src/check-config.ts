/** Tells what is wrong with the settings, without starting anything: exit code 78 where something is. */
import { checkConfig, loadConfig } from '@media-services/http-common';
import { configSchema } from './config.js';

checkConfig(() => loadConfig(configSchema));
