/** Query parameters in which media servers tell when a URL stops working, in Unix seconds. */
const expiryParameters = new Set([
  'expire',
  'expires',
  'exp',
  'e',
  'end',
  'validuntil',
  'x-expires',
  'expiration',
  'se',
  'hdnea_exp',
  'oe',
]);

const year2020Seconds = 1_577_836_800;
const year2100Seconds = 4_102_444_800;

/**
 * When a media URL stops working, as far as it tells itself.
 * @returns milliseconds since the epoch, or null where the URL says nothing
 */
export function urlExpiry(mediaUrl: string): number | null {
  let url: URL;
  try {
    url = new URL(mediaUrl);
  } catch {
    // Not a URL at all; whoever fetches it reports that.
    return null;
  }
  const known = [
    ...[...url.searchParams].flatMap(([name, value]) => parameterExpiry(name, value)),
    ...pathExpiry(url.pathname),
    ...amazonExpiry(url.searchParams),
  ];
  return known.length === 0 ? null : Math.min(...known);
}

function parameterExpiry(name: string, value: string): number[] {
  // Akamai: hdnts=st=1700000000~exp=1700003600~acl=…
  const token = /(?:^|~)exp=(\d+)/.exec(value)?.[1];
  if (token !== undefined) return unixSeconds(token);
  const lower = name.toLowerCase();
  if (!expiryParameters.has(lower)) return [];
  // Azure's `se` is ISO 8601; Facebook's `oe` is hexadecimal.
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return [Date.parse(value)].filter((time) => !Number.isNaN(time));
  return lower === 'oe' && /^[0-9a-f]{8}$/i.test(value)
    ? unixSeconds(String(Number.parseInt(value, 16)))
    : unixSeconds(value);
}

/** YouTube's manifests carry their parameters in the path: `/expire/1700000000/`. */
function pathExpiry(path: string): number[] {
  const value = /\/expires?[/=](\d{10})(?:\/|$)/.exec(path)?.[1];
  return value === undefined ? [] : unixSeconds(value);
}

/** AWS Signature Version 4: a date and a number of seconds. */
function amazonExpiry(query: URLSearchParams): number[] {
  const [date, lifetime] = [query.get('X-Amz-Date'), query.get('X-Amz-Expires')];
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? '');
  if (match === null || lifetime === null || !/^\d+$/.test(lifetime)) return [];
  const [, year, month, day, hours, minutes, seconds] = match.map(Number);
  const signedAt = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hours, minutes, seconds);
  return [signedAt + Number(lifetime) * 1000];
}

function unixSeconds(value: string): number[] {
  if (!/^\d{10,13}$/.test(value)) return [];
  const seconds = value.length === 13 ? Number(value) / 1000 : Number(value);
  return seconds > year2020Seconds && seconds < year2100Seconds ? [seconds * 1000] : [];
}
