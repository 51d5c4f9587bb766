import { Progress, runScript, setUp, UserError } from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run proof -- corpora FOLDER…
Sends every media file and image below the folders through both services and compares the results
with what ffmpeg and libvips decode: frames, seconds per track, aspect ratio, size and orientation.
Prints what is wrong; exits 0 only if nothing is.`;

await runScript({ usage, allowPositionals: true }, async ({ positionals: folders }) => {
  if (folders.length === 0) throw new UserError('Name the folders with media and images.');
  const progress = new Progress();
  const env = await setUp({ progress });
  // Built by set-up.
  const { runCorpora } = await import('../corpora/dist/corpora.js');
  return runCorpora({ progress, env, folders });
});
