import { sendFile, startSite, type Site } from '@media-services/fault-site';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { startService, type TestService } from '../support/service.js';

type Cost = readonly [requests: number, kilobytes: number];
type Row = readonly [media: string, info: Cost, stream: Cost, clip: Cost];

/**
 * What `/api/info` costs the site, then a stream, then a clip of one second. The figures may only fall.
 * The engine makes some of the requests of `/api/info`. How much a server sends of a response that is
 * broken off depends on the speed of the machine, up to the whole file. So does how far ffprobe reads ahead.
 * So only the number of requests is exact. The kilobytes are the most that we saw in several runs; a stream
 * may take 1.5 times as many, a request that breaks off responses 4 times as many.
 */
const ledger: readonly Row[] = [
  ['long.mp4', [2, 4926], [1, 4926], [1, 590]],
  ['long.mkv', [2, 5316], [1, 4923], [10, 38375]],
  ['front.ts', [12, 4339], [3, 2295], [6, 4589]],
  ['hls-long/index.m3u8', [18, 3053], [13, 3053], [4, 744]],
  ['dash-long/manifest.mpd', [30, 2961], [28, 2961], [12, 727]],
  ['long.mp3', [2, 1092], [1, 961], [3, 2883]],
  ['long-sound.m4a', [2, 885], [1, 754], [1, 24]],
  ...atNight<Row>([
    ['long.mov', [3, 1580], [1, 4912], [1, 590]],
    ['film.avi', [2, 1120], [5, 2961], [10, 5921]],
    ['film.flv', [7, 3189], [4, 1951], [8, 3902]],
    ['vp9.webm', [2, 607], [1, 238], [8, 1400]],
    ['fragments.mp4', [13, 6053], [12, 6900], [24, 13800]],
    ['hls-fmp4/index.m3u8', [9, 976], [6, 975], [6, 718]],
    ['vbr.mp3', [2, 35], [1, 18], [2, 35]],
    ['long.aac', [3, 1479], [5, 2219], [10, 4437]],
    ['long.ogg', [3, 1042], [4, 2397], [17, 7164]],
    ['sound.flac', [2, 360], [1, 229], [13, 1407]],
    ['sound.wav', [2, 484], [2, 706], [5, 1676]],
  ]),
];
const audioFiles = /\.(?:mp3|aac|ogg|flac|wav|m4a)$/;

describe('the requests to a site', () => {
  let site: Site;
  let service: TestService;
  let requests = 0;
  let bytes = 0;

  beforeAll(async () => {
    site = await startSite({
      intercept: async (req, res, { path, type }) => {
        requests += 1;
        await sendFile(req, res, path, type, { onSent: (sent) => (bytes += sent) });
        return true;
      },
    });
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  async function expectCost(
    request: () => Promise<{ readonly status: number }>,
    limit: Cost,
    { slack = 1.5, bufferedBytes = 0 } = {},
  ): Promise<void> {
    [requests, bytes] = [0, 0];
    expect((await request()).status).toBe(200);
    const [maxRequests, kilobytes] = limit;
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThanOrEqual(maxRequests);
    expect(bytes).toBeLessThanOrEqual(slack * kilobytes * 1000 + bufferedBytes);
  }

  it.each(ledger)('are no more than before for %s', async (name, info, stream, clip) => {
    const url = `${site.url}/media/${name}`;
    const path = audioFiles.test(name) ? '/api/stream' : '/api/stream/video';
    const download = async (part: Readonly<Record<string, string>> = {}) => {
      const response = await service.get(path, { url, ...part });
      await response.arrayBuffer();
      return response;
    };
    // A range that is broken off costs what the buffers of both ends have taken by then.
    const brokenOff = { slack: 4, bufferedBytes: 256 * 1024 };
    await expectCost(async () => service.info(url), info, brokenOff);
    await expectCost(download, stream);
    await expectCost(async () => download({ start: '1.5', end: '2.5' }), clip, brokenOff);
  });
});
