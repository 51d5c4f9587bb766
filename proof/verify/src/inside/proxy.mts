/** A forward proxy for HTTP and CONNECT on port 8888. Writes each target to standard output. */
import { createServer, request } from 'node:http';
import { connect } from 'node:net';

createServer((incoming, outgoing) => {
  const target = new URL(incoming.url ?? '', 'http://none');
  process.stdout.write(`${target.host}\n`);
  const onward = request(target, { method: incoming.method, headers: incoming.headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
})
  .on('connect', (incoming, socket) => {
    process.stdout.write(`${incoming.url ?? ''}\n`);
    const [host, port] = (incoming.url ?? '').split(':');
    const site = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      site.pipe(socket).pipe(site);
    });
    site.on('error', () => socket.destroy());
    socket.on('error', () => site.destroy());
  })
  .listen(8888);
