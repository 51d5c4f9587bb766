import { InferenceSession } from 'onnxruntime-node';
import { removeDebugLog } from './matting-session.js';

/**
 * Entry point: loads the graph given on the command line on the GPU. Exits with code 0 on
 * success, otherwise with 1 and the reason on standard output.
 */
try {
  const session = await InferenceSession.create(process.argv[2] ?? '', { executionProviders: ['cuda'] });
  await session.release();
} catch (error) {
  process.exitCode = 1;
  // Only the first line; the rest is paths and onnxruntime's log.
  process.stdout.write(
    String(error instanceof Error ? error.message : error)
      .split('\n')[0]
      ?.slice(0, 200) ?? '',
  );
} finally {
  await removeDebugLog();
}
