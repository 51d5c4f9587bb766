import { InferenceSession } from 'onnxruntime-node';

/**
 * Entry point: opens the graph named on the command line on the GPU. Ends with exit code 0
 * when that works, else with 1 and the reason on standard output.
 */
try {
  const session = await InferenceSession.create(process.argv[2] ?? '', { executionProviders: ['cuda'] });
  await session.release();
} catch (error) {
  process.exitCode = 1;
  // The first sentence; what follows are paths and lines of onnxruntime's own log.
  process.stdout.write(
    String(error instanceof Error ? error.message : error)
      .split('\n')[0]
      ?.slice(0, 200) ?? '',
  );
}
