export function drawSamplePicture(): Promise<{
  readonly jpeg: Buffer;
  readonly mask: Buffer;
  readonly width: number;
  readonly height: number;
}>;
