import { readFileSync } from 'node:fs';
import os from 'node:os';

export interface Machine {
  /** Cores available to this process: the container's share, not the host's. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/** The resources that `auto` settings are derived from. */
export function thisMachine(): Machine {
  // 0, or more than the machine has, when no limit is set.
  const limit = process.constrainedMemory();
  const total = os.totalmem();
  return {
    cores: Math.max(1, Math.min(os.availableParallelism(), Math.ceil(cpuQuota()))),
    memoryBytes: limit > 0 ? Math.min(limit, total) : total,
  };
}

/** Cores that the control group may use. Node takes this into account only since version 24. */
function cpuQuota(): number {
  const [quota, period] = textOf('/sys/fs/cgroup/cpu.max')?.split(' ') ?? [
    textOf('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'),
    textOf('/sys/fs/cgroup/cpu/cpu.cfs_period_us'),
  ];
  const cores = Number(quota) / Number(period);
  return cores > 0 ? cores : Infinity;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    // Not Linux, or the other version of control groups.
    return undefined;
  }
}
