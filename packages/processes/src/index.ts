export { childEnvironment } from './child/child-environment.js';
export {
  ChildGroup,
  secondInput,
  signalProcessGroup,
  SpawnError,
  type ChildExit,
  type ChildGroupOptions,
  type MemoryLimit,
} from './child/child-group.js';
export { residentMemoryBytes, treeMemoryBytes } from './child/process-usage.js';
export { redactUrls, StderrTail } from './child/stderr-tail.js';
export { engineMetrics } from './engine-metrics.js';
export * from './engine-options.js';
export { EngineSupervisor, type EngineHealth } from './engine-supervisor.js';
export { Claims, type Claim } from './claims.js';
export { FairSlots } from './fair-slots.js';
