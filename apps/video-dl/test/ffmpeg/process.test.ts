import { startMediaProcess } from '../../dist/ffmpeg/process.js';

it('says that the engine is not there when ffmpeg cannot be started', async () => {
  const { signal } = new AbortController();
  await expect(startMediaProcess({ file: '/nonexistent/ffmpeg', args: [], signal })).rejects.toMatchObject({
    code: 'engine_unavailable',
  });
});
