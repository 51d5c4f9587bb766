import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '@media-services/http-common';
import { z } from 'zod';
import { engineScript } from './download-engine.js';

const recordSchema = z.object({ python: z.string().min(1) });

/**
 * The interpreter that runs the download engine: the configured one, else the one
 * that set-up recorded (`packages/set-up`).
 *
 * @throws ConfigError when there is neither
 */
export async function locatePython(configured: string): Promise<string> {
  if (configured !== '') return configured;
  const record = resolve(dirname(engineScript), '.venv', 'engine.json');
  try {
    const { python } = recordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
    // Relative where set-up made the environment itself, so that the folder can be copied.
    return resolve(dirname(record), python);
  } catch (error) {
    throw new ConfigError([
      `YTDLP_PYTHON is not set and set-up has recorded no download engine (${error instanceof Error ? error.name : 'unknown'}). Run \`npm run setup\`, or set it to a Python interpreter that can import yt_dlp`,
    ]);
  }
}
