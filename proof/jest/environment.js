import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const { createContext } = vm;
/** An ordinary global object, as a program has it. */
const plainContext = () => createContext(vm.constants.DONT_CONTEXTIFY);

/**
 * Jest's own environment puts a proxy behind the global object, to clean up after tests. Each
 * access to `Math` or `Buffer` then takes over a microsecond: loops over pixels take minutes.
 */
export default class PlainEnvironment extends TestEnvironment {
  /** @param {ConstructorParameters<typeof TestEnvironment>} args */
  constructor(...args) {
    vm.createContext = plainContext;
    try {
      super(...args);
    } finally {
      vm.createContext = createContext;
    }
  }
}
