import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name resolves to; a name without an entry gets no response. */
export type Records = Readonly<Record<string, readonly string[] | 'missing'>>;

export interface DnsServer extends AsyncDisposable {
  /** `ip:port` */
  readonly address: string;
  /** Queried names, in order. */
  readonly asked: readonly string[];
}

/** A DNS server on loopback (RFC 1035) that serves IPv4 addresses. */
export async function startDnsServer(records: Records): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const isIpv4 = question.readUInt16BE(at + 1) === 1;
    asked.push(name);
    const found = records[name];
    if (found === undefined) return;
    const answers = found !== 'missing' && isIpv4 ? found : [];
    const head = Buffer.from(question.subarray(0, at + 5));
    head.writeUInt16BE(found === 'missing' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    const lines = answers.map((address) => {
      const fixed = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
      return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]);
    });
    socket.send(Buffer.concat([head, ...lines]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
