// Calls a server with the TypeScript client of openapi-generator: info, a stream, a cut-out, an error.
import { openAsBlob } from 'node:fs';

const [module, server, page, photo] = process.argv.slice(2);
const { Configuration, ImagesApi, ResponseError, VideosApi } = await import(module);
const configuration = new Configuration({ basePath: server });
const videos = new VideosApi(configuration);

console.log((await videos.getInfo({ url: page })).title);

const audio = await videos.streamAudio({ url: page });
console.log(await audio.slice(0, 3).text());

const file = await openAsBlob(photo, { type: 'image/jpeg' });
const images = new ImagesApi(configuration);
const cutOut = await images.removeBackground({ file, feather: 1.5, crop: true, format: 'webp' });
console.log(await cutOut.slice(8, 12).text());

try {
  await videos.getInfo({ url: 'ftp://nowhere' });
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  console.log((await error.response.json()).code);
}
