/** D50-adapted primaries of Adobe RGB (1998), XYZ. */
const primaries = {
  rXYZ: [0.60974, 0.31111, 0.01947],
  gXYZ: [0.20528, 0.62567, 0.06087],
  bXYZ: [0.14919, 0.06322, 0.74457],
} as const;
const d50 = [0.9642, 1, 0.8249] as const;
const gamma = 2.19921875;

function fixed(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(value * 65_536));
  return bytes;
}

function tag(type: string, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.alloc(4), ...content]);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'latin1');
}

/** Name of a profile (ICC.1:2001-04, 6.5.17): ASCII, with empty Unicode and script parts. */
function description(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(value.length + 1);
  return tag('desc', length, text(value), Buffer.alloc(4 + 4 + 2 + 1 + 67));
}

/** A version 2 matrix profile of the Adobe RGB (1998) colour space. */
export function adobeRgbProfile(): Buffer {
  const curve = Buffer.from([0, 0, 0, 1, 0, 0]);
  curve.writeUInt16BE(Math.round(gamma * 256), 4);
  const xyz = (values: readonly number[]): Buffer => tag('XYZ ', ...values.map(fixed));
  const tags: Record<string, Buffer> = {
    desc: description('Compatible with Adobe RGB (1998)'),
    cprt: tag('text', text('Public domain')),
    wtpt: xyz(d50),
    ...Object.fromEntries(Object.entries(primaries).map(([name, values]) => [name, xyz(values)])),
    rTRC: tag('curv', curve),
    gTRC: tag('curv', curve),
    bTRC: tag('curv', curve),
  };
  const names = Object.keys(tags);
  const table = Buffer.alloc(4 + names.length * 12);
  table.writeUInt32BE(names.length);
  let offset = 128 + table.length;
  names.forEach((name, i) => {
    const at = 4 + i * 12;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(offset, at + 4);
    table.writeUInt32BE(tags[name]?.length ?? 0, at + 8);
    offset += tags[name]?.length ?? 0;
  });
  const header = Buffer.alloc(128);
  header.writeUInt32BE(offset);
  header.writeUInt32BE(0x02100000, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  Buffer.concat(d50.map(fixed)).copy(header, 68);
  return Buffer.concat([header, table, ...Object.values(tags)]);
}
