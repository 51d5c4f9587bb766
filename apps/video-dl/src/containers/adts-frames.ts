const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

export interface AdtsFrame {
  /** Header included. */
  readonly sizeBytes: number;
  readonly seconds: number;
}

/** Parses the ADTS header at `at` (ISO 14496-3, 1.A.2.2); null if the seven bytes there aren't one. */
export function readAdtsFrame(bytes: Buffer, at = 0): AdtsFrame | null {
  if ((bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return null;
  const rate = sampleRates[(bytes.readUInt8(at + 2) >> 2) & 15];
  const sizeBytes = ((bytes.readUInt8(at + 3) & 3) << 11) | (bytes.readUInt16BE(at + 4) >> 5);
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  return rate === undefined || sizeBytes < 7 ? null : { sizeBytes, seconds: (1024 * blocks) / rate };
}
