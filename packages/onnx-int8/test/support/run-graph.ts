import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { encodeModel, type OnnxModel } from '../../dist/onnx-schema.js';

const outputsSchema = z.record(z.string(), z.array(z.number()));

/** Runs a network in onnxruntime and returns every output. */
export async function runGraph(
  model: OnnxModel,
  input: readonly number[],
): Promise<Record<string, number[]>> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'graph-'));
  try {
    const file = path.join(folder, 'model.onnx');
    await writeFile(file, encodeModel(model));
    const script = path.resolve(import.meta.dirname, '../fixtures/run-graph.mjs');
    const { stdout } = await execa(process.execPath, [script, file], { input: JSON.stringify(input) });
    return outputsSchema.parse(JSON.parse(stdout));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
