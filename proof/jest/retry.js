/// <reference types="jest" />
// A test that fails runs once more at the end of its group: on a loaded machine a process may
// start late. `npm test` lists each test that needed it.
import.meta.jest.retryTimes(1, { logErrorsBeforeRetry: true });
