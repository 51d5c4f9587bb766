/**
 * Which room may import which. A room of an app is a folder below its `src`.
 * `npx depcruise apps packages …` runs it; see the script check:imports.
 */

/** Rooms of video-dl: data flows api → stream → plan → extract → upstream; relay and ffmpeg serve stream. */
const videoDlRooms = {
  // Health asks the tools themselves.
  api: ['stream', 'plan', 'extract', 'ffmpeg'],
  stream: ['plan', 'extract', 'relay', 'ffmpeg', 'upstream', 'parsing', 'containers'],
  plan: ['extract', 'upstream', 'ffmpeg'],
  // Reading the head of a file may take ffprobe, which reads from the relay.
  extract: ['upstream', 'relay', 'ffmpeg', 'parsing', 'containers'],
  relay: ['upstream', 'parsing', 'containers'],
  ffmpeg: ['parsing', 'containers'],
  upstream: ['parsing'],
  // Parser processes load nothing but parsers.
  parsing: ['containers'],
  containers: [],
};

/** Rooms of bg-removal. */
const bgRemovalRooms = {
  api: ['images', 'matte', 'inference', 'pixels', 'model'],
  inference: ['images', 'matte', 'model', 'pixels'],
  pixels: ['images', 'matte'],
  matte: ['images'],
  model: [],
  images: [],
};

/** Nothing in a room may import a room that is not in its list. */
const roomRules = (app, rooms) =>
  Object.entries(rooms).map(([room, allowed]) => ({
    name: `${app}-${room}`,
    comment: `src/${room} may import ${allowed.length === 0 ? 'no other room' : allowed.map((each) => `src/${each}`).join(', ')}.`,
    severity: 'error',
    from: { path: `^apps/${app}/src/${room}/` },
    to: {
      path: `^apps/${app}/src/(${Object.keys(rooms)
        .filter((each) => each !== room && !allowed.includes(each))
        .join('|')})/`,
    },
  }));

export default {
  forbidden: [
    {
      name: 'no-circles',
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
      comment: 'What several rooms test with belongs into a package.',
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
    ...roomRules('video-dl', videoDlRooms),
    ...roomRules('bg-removal', bgRemovalRooms),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['(^|/)(\\.venv|models)/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['types', 'import', 'default'] },
  },
};
