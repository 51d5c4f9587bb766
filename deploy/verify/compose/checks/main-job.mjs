/** The endpoints through the gateway, from a client that has an address of its own. */
import assert from 'node:assert/strict';
import { ask, containersOf, run, shell } from '../../engine.mjs';

export const filmPage = (rate = 0) =>
  encodeURIComponent(`http://source:8000/film${rate > 0 ? `?rate=${rate}` : ''}`);
const filmSeconds = 30;

/** Length and codecs of a file in a client container; the whole file has to decode. */
export async function probe(client, file) {
  const { code, output } = await shell(
    client,
    `ffprobe -v error -show_entries format=duration:stream=codec_name -of default=nk=1:nw=1 ${file} && ffmpeg -v error -xerror -nostdin -i ${file} -f null -`,
  );
  assert.equal(code, 0, `${file} is broken: ${output}`);
  const lines = output.trim().split('\n');
  return { codecs: lines.slice(0, -1).join('+'), seconds: Number(lines.at(-1)) };
}

/** @param {import('../../report.mjs').Report} report */
export async function checkMainJob(report) {
  const [client] = await containersOf('client');
  const get = async (path) => (await ask(client, { task: 'requests', path, id: 'main' }))[0];

  await report.check('/api/health merges both services', async () => {
    const { status, json } = await get('/api/health');
    assert.equal(status, 200);
    assert.deepEqual(
      [json.status, json.services['video-dl'].status, json.services['bg-removal'].status],
      ['ok', 'ok', 'ok'],
    );
    const { downloadEngine, muxingEngine } = json.services['video-dl'].checks;
    return `yt-dlp ${downloadEngine.version} with ${downloadEngine.javascriptRuntime}, ffmpeg ${muxingEngine.version}, model ${json.services['bg-removal'].checks.engine.model}`;
  });
  await report.check('the web page and the documentation are served', async () => {
    for (const path of ['/', '/docs/']) {
      const { status, type } = await get(path);
      assert.equal(status, 200, `${path} is ${status}`);
      assert.match(type, /text\/html/);
    }
  });
  await report.check('unknown paths are problems in the common format', async () => {
    const { status, type, json } = await get('/api/nothing');
    assert.deepEqual([status, type, json.code], [404, 'application/problem+json', 'not_found']);
  });
  await report.check('/api/info describes the page', async () => {
    const { status, json } = await get(`/api/info?url=${filmPage()}`);
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(json.title, 'A film for the proof');
    assert.ok(Math.abs(json.duration - filmSeconds) < 0.2, `duration ${json.duration}`);
    return `“${json.title}”, ${json.duration} s`;
  });
  await report.check('/api/stream gives a whole MP3', () =>
    stream(client, `/api/stream?url=${filmPage()}`, '/tmp/film.mp3', 'mp3'),
  );
  await report.check('/api/stream/video gives a whole MP4', () =>
    stream(client, `/api/stream/video?url=${filmPage()}`, '/tmp/film.mp4', 'h264+aac'),
  );
  await report.check('a private address that is not allowed is refused', async () => {
    for (const address of ['http://gateway:8080/', 'http://169.254.169.254/latest/', 'http://source:8001/']) {
      const { status, json } = await get(`/api/info?url=${encodeURIComponent(address)}`);
      assert.deepEqual([status, json.code], [403, 'forbidden_address'], address);
    }
  });
  await report.check('/api/remove-background gives a transparent PNG', async () => {
    const [answer] = await ask(client, {
      task: 'requests',
      path: '/api/remove-background',
      picture: '/tmp/picture.jpg',
      id: 'main-image',
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.equal(answer.type, 'image/png');
    // Colour type 6 is red, green, blue and alpha.
    const header = Buffer.from(answer.start, 'hex');
    assert.deepEqual([header.readUInt32BE(16), header.readUInt32BE(20), header[25]], [800, 600, 6]);
    return `800×600 with alpha, ${answer.bytes} bytes, ${answer.ms} ms`;
  });
}

async function stream(client, path, to, codecs) {
  const answer = await ask(client, { task: 'download', path, to, id: 'main-stream' });
  assert.ok(answer.complete, JSON.stringify(answer));
  const file = await probe(client, to);
  assert.equal(file.codecs, codecs);
  assert.ok(Math.abs(file.seconds - filmSeconds) < 0.2, `${file.seconds} s`);
  return `${file.codecs}, ${file.seconds.toFixed(2)} s, ${(answer.bytes / 1e6).toFixed(1)} MB in ${answer.seconds.toFixed(1)} s`;
}

/** Puts a picture where the clients' uploads read it. */
export async function distributePicture(picture) {
  for (const client of await containersOf('client')) {
    await run('docker', ['exec', '-i', client, 'sh', '-c', 'cat > /tmp/picture.jpg'], { input: picture });
  }
}
