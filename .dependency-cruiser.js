/**
 * Which folder may import which. `npm test -- checks` runs it.
 * The folders are those below an app's `src`.
 */

/** Folders of video-dl, from the top. Each imports only folders further down; those of one floor not each other. */
const videoDlFloors = [
  ['api'],
  ['deliver'],
  ['plan'],
  ['look'],
  ['extract', 'relay', 'ffmpeg'],
  ['upstream'],
  // Parser processes load nothing but parsers.
  ['parser-process'],
  ['manifests'],
  ['formats'],
];

const videoDlFolders = Object.fromEntries(
  videoDlFloors.flatMap((folders, floor) =>
    folders.map((folder) => [folder, videoDlFloors.slice(floor + 1).flat()]),
  ),
);

/** Folders of bg-removal. */
const bgRemovalFolders = {
  api: ['images', 'matte', 'inference', 'pixels', 'model'],
  inference: ['images', 'matte', 'model', 'pixels'],
  pixels: ['images', 'matte'],
  matte: ['images'],
  // WebAssembly, which only matte/kernels.ts calls.
  kernels: [],
  model: [],
  images: [],
};

/** Nothing in a folder may import a folder that is not in its list. */
const folderRules = (app, folders) =>
  Object.entries(folders).map(([folder, allowed]) => ({
    name: `${app}-${folder}`,
    comment: `src/${folder} may import ${allowed.length === 0 ? 'no other folder' : allowed.map((each) => `src/${each}`).join(', ')}.`,
    severity: 'error',
    from: { path: `^apps/${app}/src/${folder}/` },
    to: {
      path: `^apps/${app}/src/(${Object.keys(folders)
        .filter((each) => each !== folder && !allowed.includes(each))
        .join('|')})/`,
    },
  }));

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other cannot be read, or changed, one after the other.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'packages-know-no-apps',
      comment:
        'Packages are usable by any service: they import no app, no test and no tool of this repository.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(apps|nginx|docs|scripts|deploy)/' },
    },
    {
      name: 'apps-know-no-apps',
      comment: 'The services are independent of each other, their tests included.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/(?!$1/)' },
    },
    {
      name: 'nothing-shipped-imports-proof',
      comment: 'proof/ tests and measures what ships. Only tests may import it.',
      severity: 'error',
      from: { pathNot: ['^proof/', '/test/'] },
      to: { path: '^proof/' },
    },
    {
      name: 'test-support-stays-home',
      comment: 'Support that several folders need for their tests belongs in a package.',
      severity: 'error',
      from: { path: '^([^/]+/[^/]+)/' },
      to: { path: '^apps/[^/]+/test/', pathNot: '^$1/' },
    },
    {
      name: 'source-knows-no-tests',
      severity: 'error',
      from: { path: '/src/' },
      to: { path: '/test/' },
    },
    ...folderRules('video-dl', videoDlFolders),
    ...folderRules('bg-removal', bgRemovalFolders),
    {
      name: 'kernels-behind-one-door',
      comment: 'Kernels know arguments by their place alone; matte/kernels.ts gives them names.',
      severity: 'error',
      from: { path: '^apps/bg-removal/src/', pathNot: '^apps/bg-removal/src/(kernels/|matte/kernels\\.ts$)' },
      to: { path: '^apps/bg-removal/(data/|src/kernels/)' },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['(^|/)(\\.venv|models)/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'default'] },
  },
};
