export { freePort } from '@media-services/set-up';
export { renderGateway, substitute, type GatewayVariables } from './gateway/render-gateway.js';
export { startNginx, type RunningGateway } from './gateway/nginx.js';
export {
  film,
  makeLongFilm,
  makeLongSound,
  makeQuickTime,
  makeSampleFilm,
  type FilmOptions,
} from './samples/film.js';
export { drawSamplePicture, type SamplePicture } from './samples/picture.js';
export { startSampleSite, type SampleSite } from './samples/site.js';
export { panel } from './stack/panel.js';
export { Stack, deathNotice, startHealthyStack, startStack, type StackOptions } from './stack/stack.js';
export { toldToStop } from './stack/stop-signals.js';
