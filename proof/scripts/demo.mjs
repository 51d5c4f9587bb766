// npm run demo: the main job of both services, end to end, on a sample site of its own.
// Results are in demo-output/; exits 0 only if every one of them is right.
import { Progress, runCommandLine, setUp } from '../../packages/stack/src/set-up/index.mjs';

await runCommandLine(async () => {
  const progress = new Progress();
  const env = await setUp({ progress });
  // Built by set-up.
  const { runDemo } = await import('../demo/dist/demo.js');
  return runDemo(progress, env);
});
