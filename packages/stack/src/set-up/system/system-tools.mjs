import { findBrowser, findExecutable, findFfmpeg, findNginx } from '../executables.mjs';

/**
 * @typedef {object} SystemTool a program from the system's package manager
 * @property {string} name
 * @property {string} purpose
 * @property {(env?: NodeJS.ProcessEnv) => boolean} isThere
 * @property {readonly string[]} apt
 * @property {readonly string[]} brew
 * @property {string} [hint] advice if no package manager provides all of it
 */

/** @type {(name: string) => boolean} */
const here = (name) => findExecutable(name) !== undefined;

/** @type {SystemTool} */
export const ffmpegTool = {
  name: 'ffmpeg',
  purpose: 'converts and muxes media',
  isThere: (env) => findFfmpeg(env).ffprobe !== undefined,
  apt: ['ffmpeg'],
  brew: ['ffmpeg'],
};

/** @type {SystemTool} */
const nginx = {
  name: 'nginx with its JavaScript module (njs)',
  purpose: 'the gateway',
  isThere: () => {
    const found = findNginx();
    return found.nginx !== undefined && found.njsModule !== undefined;
  },
  apt: ['nginx', 'libnginx-mod-http-js'],
  brew: ['nginx'],
  hint: 'If your nginx has no njs module, point NGINX_PATH and NGINX_NJS_MODULE at a build that does, or use `docker compose up`.',
};

/** @type {SystemTool} */
const redis = {
  name: 'redis-server',
  purpose: 'tests of the shared rate limit',
  isThere: () => here('redis-server') || here('valkey-server'),
  apt: ['redis-server'],
  brew: ['redis'],
};

/** @type {SystemTool} */
const prometheus = {
  name: 'promtool',
  purpose: 'tests of the alert rules',
  isThere: () => here('promtool'),
  apt: ['prometheus'],
  brew: ['prometheus'],
};

/** @type {SystemTool} */
const chromium = {
  name: 'chromium',
  purpose: 'tests of the web page',
  isThere: (env) => findBrowser(env) !== undefined,
  apt: ['chromium-headless-shell'],
  brew: ['--cask', 'chromium'],
};

/** @type {SystemTool} */
const mediainfo = {
  name: 'mediainfo',
  purpose: 'tests that open what the service sends',
  isThere: () => here('mediainfo'),
  apt: ['mediainfo'],
  brew: ['mediainfo'],
};

/** @type {SystemTool} */
const players = {
  name: 'mpv, GStreamer and Firefox',
  purpose: 'nightly tests that play what the service sends',
  isThere: () => here('mpv') && here('gst-discoverer-1.0') && (here('firefox-esr') || here('firefox')),
  apt: [
    ...['mpv', 'firefox-esr', 'gstreamer1.0-tools', 'gstreamer1.0-plugins-base-apps'],
    ...['gstreamer1.0-plugins-good', 'gstreamer1.0-plugins-bad', 'gstreamer1.0-libav'],
  ],
  brew: ['mpv', 'gstreamer', '--cask', 'firefox'],
};

/** Tools needed to run, only for tests, and only for nightly tests. */
export const runTools = [nginx];
export const testTools = [redis, chromium, prometheus, mediainfo];
export const nightlyTools = [players];
