const { BASE_URL, VIDEO_URL } = process.env;

const response = await fetch(`${BASE_URL}/api/info?${new URLSearchParams({ url: VIDEO_URL })}`);
const body = await response.json();
if (!response.ok) throw new Error(`${body.code}: ${body.detail}`);

console.log(body.title, body.duration);
for (const { target, estimatedBytes } of body.downloads) console.log(target, estimatedBytes);
