import { Progress, runScript, setUp } from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run demo
Does the main job of both services, end to end, on its own sample site.
Results are in demo-output/; exits 0 only if all of them are right.`;

await runScript({ usage }, async () => {
  const progress = new Progress();
  const env = await setUp({ progress });
  // Built by set-up.
  const { runDemo } = await import('../demo/dist/demo.js');
  return runDemo(progress, env);
});
