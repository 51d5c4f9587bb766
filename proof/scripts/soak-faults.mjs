// npm run soak:faults -- [minutes]: good requests, every fault, slow and leaving clients, bad images
// and killed engines at once, against both services behind the gateway. Exits 0 only if every
// good request was answered rightly, no fault looked like a success and nothing was left over.
import { Progress, runCommandLine, setUp, UserError } from '../../packages/stack/src/set-up/index.mjs';

await runCommandLine(async () => {
  const minutes = Number(process.argv[2] ?? 30);
  if (!(minutes > 0)) throw new UserError('The minutes must be a number above 0.');
  const progress = new Progress();
  const env = await setUp({ progress });
  // Built by set-up.
  const { runSoak } = await import('../soak/dist/soak.js');
  return runSoak({ progress, env, minutes });
});
