import { makeAllMedia } from '@media-services/fault-site';

/** Before the tests: a request that waits until its file is encoded may exceed a timeout. */
export default makeAllMedia;
