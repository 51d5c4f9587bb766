const linePattern = /^[ \t]*[A-Za-z0-9_.-]{1,64}[ \t]+[0-9a-f]{64}([ \t]+(images|videos)=\d{1,6})*[ \t]*$/;
const maxLineLength = 512;

/** Validates each line of the file of API keys; njs/key-file.js reads it again for each request. */
export function keyFileProblems(file: string, read: (file: string) => string | undefined): string[] {
  if (file === '') return [];
  const text = read(file);
  if (text === undefined) return [`must be a readable file, but is "${file}"`];
  return text.split('\n').flatMap((withEnd, index) => {
    const line = withEnd.replace(/^\ufeff/, '').replace(/\r$/, '');
    if (/^[ \t]*(#|$)/.test(line) || (line.length <= maxLineLength && linePattern.test(line))) return [];
    return [
      `must be a file whose lines are a name, a SHA-256 in 64 lower-case hexadecimal digits, and optionally images=N or videos=N with N up to 999999, but is not in line ${index + 1} of ${file}`,
    ];
  });
}
