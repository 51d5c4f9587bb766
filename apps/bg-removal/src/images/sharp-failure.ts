/** How libvips and sharp begin what they say of a file that they cannot decode. */
const faultsOfTheImage = [
  /^Input (buffer|file|image)/,
  /^(VipsJpeg|jpegload|VipsForeignLoad)/,
  /^(vipspng|pngload|spngload)/,
  /^webp/,
  // What libspng's refusal of damaged pixels comes to: sharp finds no message.
  /^Unknown error$/,
];

/** An encoder that writes to memory says `unable to write to target` when what it reads is damaged. */
const faultsOfTheMachine =
  /out of memory|cannot allocate|bad_alloc|unable to (open|start|write(?! to target))/i;

/**
 * Whether what sharp threw is about the image. Only what its decoders are known to
 * say counts: everything else (no memory, a missing library, a mistake of ours) is
 * the service's own failure, and is not blamed on the client.
 */
export function isFaultOfImage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { message } = thrown;
  if (faultsOfTheMachine.test(message)) return false;
  return message.split('\n').some((line) => faultsOfTheImage.some((fault) => fault.test(line.trim())));
}
