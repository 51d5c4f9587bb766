import { hasErrorCode } from '@media-services/http-common';

/**
 * Signals a whole process group; the leader was spawned `detached`.
 * @returns false when nothing of the group is left.
 */
export function signalProcessGroup(leaderPid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leaderPid, signal);
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'ESRCH')) return false;
    throw error;
  }
}
