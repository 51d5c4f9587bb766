import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Asks the kernel itself whether it holds a process to TCP ports: `landlock_create_ruleset` (444 on both
 * machines) tells its version, and rules for the network came with version 4 (landlock(7)).
 */
const probe = `
import ctypes, platform, sys
known = sys.platform == 'linux' and platform.machine() in ('x86_64', 'aarch64')
print(known and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 4)
`;

/** Whether the kernel's lock can be had here; a container runtime may forbid it. */
export async function kernelOffersLock(python: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)(python, ['-c', probe]);
  return stdout.trim() === 'True';
}
