import { ChildGroup, childEnvironment, type MemoryLimit } from '../src/index.js';

const mebibyte = 2 ** 20;
const enoughBytes = 4096 * mebibyte;
const enough = {
  maxResidentBytes: enoughBytes,
  maxAddressSpaceBytes: enoughBytes,
  maxDataBytes: enoughBytes,
};

/** Starts a child that takes 800 MiB of memory within a second and then prints `done`. */
async function takeMemory(memory: MemoryLimit): Promise<{ output: string; child: ChildGroup }> {
  const script = 'tr "\\0" x < /dev/zero | dd of=/dev/null bs=800M count=1 iflag=fullblock && echo done';
  const child = await ChildGroup.start({
    file: '/bin/sh',
    args: ['-c', script],
    env: childEnvironment(),
    stdin: 'ignore',
    killGraceMs: 100,
    memory,
  });
  let output = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) output += chunk.toString();
  await child.exited;
  return { output, child };
}

it('lets a child work below its limits', async () => {
  const { output, child } = await takeMemory(enough);
  expect(output).toBe('done\n');
  expect(child.hasExceededMemory).toBe(false);
});

it('kills a child while it works, with the kernel limits removed', async () => {
  const { output, child } = await takeMemory({ ...enough, maxResidentBytes: 200 * mebibyte });
  expect(output).toBe('');
  expect(child.hasExceededMemory).toBe(true);
});

it.each(['maxAddressSpaceBytes', 'maxDataBytes'])(
  'enforces %s, with the resident memory check removed',
  async (limit) => {
    const { output } = await takeMemory({ ...enough, [limit]: 400 * mebibyte });
    expect(output).toBe('');
  },
);

it('lets a child reserve address space beyond its data limit', async () => {
  const script = 'new WebAssembly.Memory({ initial: 1, maximum: 65536 }); console.log("done")';
  const child = await ChildGroup.start({
    file: process.execPath,
    args: ['-e', script],
    env: childEnvironment(),
    stdin: 'ignore',
    killGraceMs: 100,
    memory: { maxDataBytes: 700 * mebibyte },
  });
  let output = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) output += chunk.toString();
  expect(output).toBe('done\n');
});

it('passes arguments to a program unchanged', async () => {
  const args = ['%s|', "a b'c", '$(id)', '"; exit 3 #', ''];
  const child = await ChildGroup.start({
    file: '/usr/bin/printf',
    args,
    env: childEnvironment(),
    stdin: 'ignore',
    killGraceMs: 100,
    memory: enough,
  });
  let output = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) output += chunk.toString();
  expect(output).toBe('a b\'c|$(id)|"; exit 3 #||');
});
