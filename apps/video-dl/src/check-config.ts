/** Tells what is wrong with the settings, without starting anything: exit code 78 where something is. */
import { checkConfig } from '@media-services/http-common';
import { readConfig } from './config.js';

checkConfig(readConfig);
