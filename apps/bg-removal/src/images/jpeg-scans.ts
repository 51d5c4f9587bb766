const startOfScan = 0xda;
const endOfImage = 0xd9;

/** Markers that stand alone, without a length: TEM, RST0-RST7, SOI. */
function standsAlone(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/**
 * Counts the scans of a JPEG (ITU-T T.81, B.1): a decoder goes through the whole
 * image once for each, so that a small file can ask for hours of work. Linear in
 * the length of the file; what is damaged counts as far as it can be followed.
 */
export function countJpegScans(file: Uint8Array): number {
  let scans = 0;
  let at = 2;
  for (;;) {
    at = nextMarker(file, at);
    const marker = file[at];
    if (marker === undefined || marker === endOfImage) return scans;
    at++;
    if (standsAlone(marker)) continue;
    if (marker === startOfScan) scans++;
    // Over the segment: the compressed data of a scan follows it, up to the next marker.
    const high = file[at];
    const low = file[at + 1];
    if (high === undefined || low === undefined) return scans;
    at += Math.max(2, high * 256 + low);
  }
}

/** Where the next marker's code is; after the end when there is none. `FF 00` is data, `FF FF` is filling. */
function nextMarker(file: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    at = file.indexOf(0xff, at);
    if (at < 0) return file.length;
    while (file[at] === 0xff) at++;
    if (file[at] !== 0x00) return at;
  }
}
