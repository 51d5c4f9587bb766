import { UserError } from '../user-error.mjs';

const units = {
  '': 1,
  b: 1,
  k: 1024,
  kb: 1000,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1e6,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1e9,
  gib: 1024 ** 3,
};

/** Room for the multipart wrapping and the other fields of an upload. */
const multipartRoom = 1024 * 1024;

/**
 * What the gateway has to let through for the service's MAX_FILE_BYTES; undefined
 * for the default.
 */
export function gatewayBodySize(maxFileBytes) {
  if (maxFileBytes === undefined || maxFileBytes === '') return undefined;
  const [, number, unit] = /^([\d.]+)\s*([a-z]*)$/i.exec(maxFileBytes.trim()) ?? [];
  const factor = units[unit?.toLowerCase()];
  if (number === undefined || factor === undefined || !(Number(number) > 0)) {
    throw new UserError(
      `MAX_FILE_BYTES is ${JSON.stringify(maxFileBytes)}; it must be a size such as 15MiB or 20000000.`,
    );
  }
  return String(Math.ceil(Number(number) * factor) + multipartRoom);
}
