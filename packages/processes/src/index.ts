export { engineMetrics } from './engine-metrics.js';
export * from './engine-options.js';
export { EngineSupervisor, type EngineHealth, type RunOptions } from './engine-supervisor.js';
export { signalProcessGroup } from './process/process-group.js';
export { residentMemoryBytes } from './process/resident-memory.js';
