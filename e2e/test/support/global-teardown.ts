import { releaseAll } from './release.js';

export default releaseAll;
