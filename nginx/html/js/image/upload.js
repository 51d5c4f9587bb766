import { withAccessKey } from '../access-key.js';
import { formatBytes } from '../format.js';
import { parseProblem, RequestFailed } from '../problem.js';
import { errorText } from '../texts.js';

/** With these values the service doesn't tune the matte. The page does, without another upload. */
const untuned = { threshold: '0', feather: '0', foreground_strength: '1' };

/**
 * Sends an image with XMLHttpRequest, since fetch doesn't report upload progress.
 * @returns the untuned cut-out as a PNG
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export function removeBackground(file, { signal, onProgress, onUploaded, onHeaders }) {
  const form = new FormData();
  for (const [name, value] of Object.entries(untuned)) form.append(name, value);
  form.append('file', file, file.name);

  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', 'api/remove-background');
    request.responseType = 'blob';
    for (const [name, value] of Object.entries(withAccessKey())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    });
    request.upload.addEventListener('load', () => onUploaded());
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    request.addEventListener('error', () => reject(connectionLost(file)));
    request.addEventListener('load', () => {
      onHeaders((name) => request.getResponseHeader(name));
      if (request.status === 200) resolve(request.response);
      else rejectWithProblem(request, reject);
    });
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}

function rejectWithProblem(request, reject) {
  const retryAfter = request.getResponseHeader('Retry-After');
  request.response.text().then(
    (body) => reject(new RequestFailed(parseProblem(body, { status: request.status, retryAfter }))),
    (error) => reject(error),
  );
}

function connectionLost(file) {
  return new RequestFailed({
    ...errorText('broken', { size: formatBytes(file.size) }),
    retryable: true,
  });
}
