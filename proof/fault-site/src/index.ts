export { compressedFile, Faults } from './faults.js';
export { faultCases, type FaultCase, type FaultOutcome } from './fault-cases.js';
export { made, makeAllMedia, media } from './media.js';
export { hdrOptions, recipes, type Recipe } from './recipes.js';
export { sendFile, startSite, type Site } from './server.js';
export {
  film,
  makeLongFilm,
  makeLongSound,
  makeOtherContainers,
  makeSampleFilm,
  type FilmOptions,
} from './samples/film.js';
export { drawSamplePicture, type SamplePicture } from './samples/picture.js';
export { startSampleSite, type SampleSite } from './samples/site.js';
