import { releaseAll } from './release.ts';

export default releaseAll;
