// A parser process that fails the way a hostile input could make it fail. The job's bytes select how.
const failures = {
  loop: () => {
    for (;;);
  },
  heap: () => {
    const kept = [];
    for (;;) kept.push(new Array(100_000).fill({}));
  },
  buffers: () => {
    const kept = [];
    const grow = () => {
      kept.push(Buffer.alloc(16 * 1024 ** 2, 1));
      setTimeout(grow, 5);
    };
    grow();
  },
  burst: () => {
    const kept = [];
    for (;;) kept.push(Buffer.alloc(16 * 1024 ** 2, 1));
  },
  crash: () => process.abort(),
  exit: () => process.exit(7),
  mistake: () => {
    throw new TypeError('undefined is not a function');
  },
};

process.on('message', ({ type, id, job }) => {
  if (type !== 'run') return;
  const what = Buffer.from(job.bytes).toString();
  try {
    const isSilent = what === 'buffers';
    failures[what]?.();
    const result = { job: 'initialisation', result: String(process.pid) };
    if (!isSilent) process.send({ id, ok: true, result });
  } catch (error) {
    process.send({ id, ok: false, error: { mistake: String(error) } });
  }
});
process.send({ type: 'ready' });
