import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const module = fileURLToPath(new URL('../src/set-up/user-error.mjs', import.meta.url));

/** The exit code of a command with this main function. */
function exitCodeOf(main: string): Promise<number> {
  const script = `import { runCommandLine } from ${JSON.stringify(module)}; await runCommandLine(async () => { ${main} });`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (error) =>
      resolve(Number(error?.code ?? 0)),
    );
  });
}

it.each([
  ['returns nothing', '', 0],
  ['returns a code', 'return 4;', 4],
  ['sets a code', 'process.exitCode = 3;', 3],
  ['throws', 'throw new Error("no");', 1],
])('a command that %s exits with its code', async (_what, main, code) => {
  expect(await exitCodeOf(main)).toBe(code);
});
