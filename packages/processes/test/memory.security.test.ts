import { ChildGroup, childEnvironment, type MemoryLimit } from '../dist/index.js';

const mebibyte = 2 ** 20;
const enough = { maxResidentBytes: 4096 * mebibyte, maxAddressSpaceBytes: 4096 * mebibyte };

/** A child that takes 800 MiB of memory within a second, and says so. */
async function takeMemory(memory: MemoryLimit): Promise<{ output: string; child: ChildGroup }> {
  const script = 'tr "\\0" x < /dev/zero | dd of=/dev/null bs=800M count=1 iflag=fullblock && echo done';
  const child = await ChildGroup.start({
    ...{ file: '/bin/sh', args: ['-c', script], env: childEnvironment(), stdin: 'ignore', killGraceMs: 100 },
    memory,
  });
  let output = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) output += chunk.toString();
  await child.exited;
  return { output, child };
}

it('lets a child take what it may', async () => {
  const { output, child } = await takeMemory(enough);
  expect(output).toBe('done\n');
  expect(child.hasExceededMemory).toBe(false);
});

it('kills a child in the middle of its work, with the limit of the kernel removed', async () => {
  const { output, child } = await takeMemory({ ...enough, maxResidentBytes: 200 * mebibyte });
  expect(output).toBe('');
  expect(child.hasExceededMemory).toBe(true);
});

it('gives a child no more address space, with the watch removed', async () => {
  const { output } = await takeMemory({ ...enough, maxAddressSpaceBytes: 400 * mebibyte });
  expect(output).toBe('');
});

it('passes a program its arguments as they are', async () => {
  const args = ['%s|', "a b'c", '$(id)', '"; exit 3 #', ''];
  const child = await ChildGroup.start({
    ...{ file: '/usr/bin/printf', args, env: childEnvironment(), stdin: 'ignore', killGraceMs: 100 },
    memory: enough,
  });
  let output = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) output += chunk.toString();
  expect(output).toBe('a b\'c|$(id)|"; exit 3 #||');
});
