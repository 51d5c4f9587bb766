import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The interpreter of the download engine: the command is measured with the very same yt-dlp. */
export async function pythonOf() {
  if (process.env.YTDLP_PYTHON) return process.env.YTDLP_PYTHON;
  const record = fileURLToPath(new URL('../../apps/video-dl/engine/.venv/engine.json', import.meta.url));
  const { python } = JSON.parse(await readFile(record, 'utf8'));
  return resolve(dirname(record), python);
}

export async function engineVersions(serviceUrl) {
  const { checks } = await (await fetch(`${serviceUrl}/api/health`)).json();
  return { ytDlp: checks.downloadEngine.version, ffmpeg: checks.muxingEngine.version };
}
