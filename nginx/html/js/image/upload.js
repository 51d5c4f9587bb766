import { parseProblem, RequestFailed } from '../problem.js';

/**
 * Sends an image and its parameters. XMLHttpRequest, as fetch tells nothing of
 * how far an upload is.
 * @returns the cut-out with its size in pixels, and the answer's rate-limit headers
 * @throws RequestFailed, or an AbortError when `signal` aborts
 */
export function removeBackground(file, parameters, { signal, onProgress, onUploaded, onHeaders }) {
  const form = new FormData();
  for (const [name, value] of Object.entries(parameters)) form.append(name, value);
  form.append('file', file, file.name);

  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/remove-background');
    request.responseType = 'blob';
    request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress(loaded / total);
    });
    request.upload.addEventListener('load', () => onUploaded());
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    request.addEventListener('error', () => reject(connectionLost(file)));
    request.addEventListener('load', () => {
      onHeaders((name) => request.getResponseHeader(name));
      if (request.status === 200) resolve(resultOf(request));
      else rejectWithProblem(request, reject);
    });
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}

function resultOf(request) {
  return {
    blob: request.response,
    width: Number(request.getResponseHeader('X-Width')),
    height: Number(request.getResponseHeader('X-Height')),
  };
}

function rejectWithProblem(request, reject) {
  const retryAfter = request.getResponseHeader('Retry-After');
  request.response.text().then(
    (body) => reject(new RequestFailed(parseProblem(body, { status: request.status, retryAfter }))),
    (error) => reject(error),
  );
}

function connectionLost(file) {
  const megabytes = (file.size / 1e6).toFixed(1);
  return new RequestFailed({
    title: 'The connection broke off',
    detail: `The image (${megabytes} MB) did not get through. Check your connection, or try a smaller image.`,
    retryable: true,
  });
}
