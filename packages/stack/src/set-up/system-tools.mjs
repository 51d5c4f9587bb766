import { findBrowser, findExecutable, findFfmpeg, findNginx } from './executables.mjs';

/** @typedef {import('./system-packages.mjs').SystemTool} SystemTool */

/** @type {(name: string) => boolean} */
const here = (name) => findExecutable(name) !== undefined;

/** @type {SystemTool} */
export const ffmpegTool = {
  name: 'ffmpeg',
  purpose: 'converts and muxes media',
  isThere: (env) => findFfmpeg(env).ffprobe !== undefined,
  packages: { any: 'ffmpeg', dnf: 'ffmpeg-free' },
};

/** @type {SystemTool} */
export const nginxTool = {
  name: 'nginx with its JavaScript module (njs)',
  purpose: 'the gateway',
  isThere: () => findNginx().njsModule !== undefined,
  packages: {
    apt: 'nginx libnginx-mod-http-js',
    dnf: 'nginx nginx-mod-njs',
    apk: 'nginx nginx-mod-http-js',
    pacman: 'nginx nginx-mod-njs',
    brew: 'nginx',
  },
  hint: 'If your nginx has no njs module, point NGINX_PATH and NGINX_NJS_MODULE at a build that does, or use `docker compose up`.',
};

/**
 * Tools that only tests need. A missing one fails only the tests that need it.
 * @type {readonly SystemTool[]}
 */
export const testTools = [
  {
    name: 'curl, wget and ps',
    purpose: 'tests of the documented commands, and of what stays running',
    isThere: () => ['curl', 'wget', 'ps'].every(here),
    packages: {
      any: 'curl wget procps',
      dnf: 'curl wget procps-ng',
      pacman: 'curl wget procps-ng',
      brew: 'curl wget',
    },
  },
  {
    name: 'redis-server',
    purpose: 'tests of the shared rate limit',
    isThere: () => here('redis-server') || here('valkey-server'),
    packages: { any: 'redis', apt: 'redis-server', dnf: 'valkey', pacman: 'valkey' },
  },
  {
    name: 'chromium',
    purpose: 'tests of the web page',
    isThere: (env) => findBrowser(env) !== undefined,
    packages: { any: 'chromium', apt: 'chromium-headless-shell', brew: '--cask chromium' },
  },
  {
    name: 'promtool',
    purpose: 'tests of the alert rules',
    isThere: () => here('promtool'),
    packages: { any: 'prometheus' },
  },
  {
    name: 'mediainfo',
    purpose: 'tests that open what the service sends',
    isThere: () => here('mediainfo'),
    packages: { any: 'mediainfo', brew: 'media-info' },
  },
];

/** @type {SystemTool} */
export const players = {
  name: 'mpv, GStreamer, Firefox and Mutagen',
  purpose: 'nightly tests that play what the service sends',
  isThere: () => here('mpv') && here('gst-discoverer-1.0') && (here('firefox-esr') || here('firefox')),
  packages: {
    apt: 'mpv firefox-esr gstreamer1.0-tools gstreamer1.0-plugins-base-apps gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav python3-mutagen',
  },
};
