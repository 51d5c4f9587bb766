type Release = () => unknown;

/** Global set-up and tear-down are two modules of one process, loaded apart; what they share hangs on it. */
const holder = globalThis as { e2eReleases?: Release[] };

/** Has `release` called when all tests are over, before what was given earlier. */
export function releaseLater(release: Release): void {
  holder.e2eReleases = [release, ...(holder.e2eReleases ?? [])];
}

/** Releases everything, the latest first. */
export async function releaseAll(): Promise<void> {
  const releases = holder.e2eReleases ?? [];
  holder.e2eReleases = [];
  for (const release of releases) await release();
}
