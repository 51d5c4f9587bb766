const { BASE_URL, VIDEO_URL } = process.env;

const response = await fetch(`${BASE_URL}/api/info?${new URLSearchParams({ url: VIDEO_URL })}`);
const answer = await response.json();
if (!response.ok) throw new Error(`${answer.code}: ${answer.detail}`);

console.log(answer.title, answer.duration);
for (const { target, estimatedBytes } of answer.downloads) console.log(target, estimatedBytes);
