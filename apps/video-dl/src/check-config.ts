/** Validates the settings without starting anything. Exits with 78 if there are problems. */
import { checkConfig } from '@media-services/http-common';
import { readConfig } from './config.js';

checkConfig(readConfig);
