#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);

// A checkout after `npm start` or `docker compose up` has only what these run.
if (existsSync(program)) {
  const { main } = await import(program.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error('media-services is not built yet. Run `npm run setup` once, then try again.');
  process.exitCode = 1;
}
