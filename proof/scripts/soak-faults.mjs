import { Progress, runScript, setUp, UserError } from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run proof -- soak [MINUTES]
Sends good requests, every fault, slow and leaving clients and bad images to both services behind
the gateway for 30 minutes, and kills engines. Exits 0 only if every good request got the right
response, no fault looked like a success and nothing was left over.`;

await runScript({ usage, allowPositionals: true }, async ({ positionals }) => {
  const minutes = Number(positionals[0] ?? 30);
  if (!(minutes > 0) || positionals.length > 1)
    throw new UserError('The minutes must be one number above 0.');
  const progress = new Progress();
  const env = await setUp({ progress });
  // Built by set-up.
  const { runSoak } = await import('../soak/dist/soak.js');
  return runSoak({ progress, env, minutes });
});
