import { planTarget } from '../../src/plan/plan.js';
import { tooLarge } from '../../src/plan/rejections.js';
import { codeOf } from '../support/expectations.js';
import { audioOnly, extraction, format, videoOnly } from '../support/extractions.js';

const limits = { maxDurationSeconds: 1000, maxOutputBytes: 1e9, mp4Video: 'copy' } as const;
const h264 = { ...limits, mp4Video: 'h264' } as const;

describe('planTarget for MP4', () => {
  it.each([
    ['avc1.640028', 'mp4a.40.2', 'copy', 'copy'],
    ['h264', 'aac', 'copy', 'copy'],
    ['hvc1.1.6.L93', 'mp4a.40.5', 'copy', 'copy'],
    ['av01.0.08M.08', 'opus', 'copy', 'transcode'],
    ['vp9', 'opus', 'copy', 'transcode'],
    ['vp8', 'vorbis', 'transcode', 'transcode'],
    ['theora', 'vorbis', 'transcode', 'transcode'],
    ['h264', 'ac-3', 'copy', 'transcode'],
    ['h264', 'mp3', 'copy', 'transcode'],
  ])('of %s with %s: video %s, audio %s', (videoCodec, audioCodec, video, audio) => {
    const plan = planTarget(extraction([format({ videoCodec, audioCodec })]), 'mp4-720', limits);
    expect(plan).toMatchObject({ video: { action: video }, audio: { action: audio } });
  });

  it.each([
    ['avc1.640028', 'copy', 'copy', 'everywhere'],
    ['h264', 'copy', 'copy', 'everywhere'],
    ['avc1.6e0028', 'copy', 'transcode', 'some players'],
    ['hvc1.1.6.L93', 'copy', 'transcode', 'newer players'],
    ['av01.0.08M.08', 'copy', 'transcode', 'newer players'],
    ['vp09.00.10.08', 'copy', 'transcode', 'newer players'],
    ['mp4v.20.9', 'copy', 'transcode', 'some players'],
    ['vp8', 'transcode', 'transcode', 'everywhere'],
    ['unknown', 'transcode', 'transcode', 'everywhere'],
  ])('of %s: %s, or %s if everything must be H.264; a copy plays %s', (videoCodec, usual, all, plays) => {
    const page = extraction([format({ videoCodec })]);
    expect(planTarget(page, 'mp4-720', limits).video).toMatchObject({ action: usual, plays });
    expect(planTarget(page, 'mp4-720', h264).video).toMatchObject({ action: all, plays: 'everywhere' });
  });

  it.each([
    ['mp4-720', 1080, 1920, 720, 1280],
    ['mp4-1080', 1080, 1920, 1080, 1920],
    ['mp4-720', 1920, 1080, 1280, 720],
    ['mp4-720', 241, 427, 240, 426],
    ['mp4-720', 817, 1920, 720, 1692],
  ] as const)('encodes at the size of %s: %d × %d as %d × %d', (target, height, width, ...expected) => {
    const page = extraction([format({ videoCodec: 'vp9', height, width })]);
    const { video } = planTarget(page, target, h264);
    expect([video?.height, video?.width]).toEqual(expected);
    expect(planTarget(page, target, limits).video).toMatchObject({ height, width });
  });

  it('does not send a file unchanged if its video must be H.264', () => {
    const page = extraction([format({ videoCodec: 'vp9' })]);
    expect(planTarget(page, 'mp4-720', limits).siteFile).toBe('mp4');
    expect(planTarget(page, 'mp4-720', h264).siteFile).toBeNull();
  });

  it('takes video and audio from two formats, in that order', () => {
    const [video, audio] = [videoOnly({ filesizeBytes: 1_000_000 }), audioOnly({ filesizeBytes: 200_000 })];
    const plan = planTarget(extraction([audio, video]), 'mp4-720', limits);
    expect(plan.formatIds).toEqual(['video', 'audio']);
    expect(plan.inputs).toEqual([video.source, audio.source]);
    expect(plan.expected.tracks).toEqual(['video', 'audio']);
    expect(plan.estimatedBytes).toBeGreaterThan(1_200_000);
    expect(plan.estimatedBytes).toBeLessThan(1_200_000 * 1.05);
  });

  it('plans a silent MP4 for a silent video', () => {
    const plan = planTarget(extraction([videoOnly()]), 'mp4-720', limits);
    expect(plan).toMatchObject({ video: { action: 'copy' }, audio: null, formatIds: ['video'] });
  });

  it('rejects a page with audio only', () => {
    expect(codeOf(() => planTarget(extraction([audioOnly()]), 'mp4-720', limits))).toBe('no_media');
  });

  it('rejects a track of images, but sends the audio beside it', () => {
    const page = extraction([format({ videoCodec: 'png', audioCodec: 'mp3' })]);
    expect(codeOf(() => planTarget(page, 'mp4-720', limits))).toBe('no_media');
    expect(planTarget(page, 'mp3', limits)).toMatchObject({ video: null, audio: { action: 'copy' } });
  });

  it('subtracts the overhead of a transport stream', () => {
    const hls = format({ source: { url: 'https://cdn.example/i.m3u8', headers: {}, kind: 'hls' } });
    expect(planTarget(extraction([hls]), 'mp4-720', limits).audio).toMatchObject({ action: 'copy' });
  });

  it('counts transcoded audio with its new bit rate', () => {
    const formats = [
      videoOnly({ filesizeBytes: 1_000_000 }),
      audioOnly({ audioCodec: 'opus', filesizeBytes: 500_000 }),
    ];
    const plan = planTarget(extraction(formats), 'mp4-720', limits);
    expect(plan.estimatedBytes).toBeGreaterThan(1_000_000 + 100 * 20_000);
    expect(plan.estimatedBytes).toBeLessThan((1_000_000 + 100 * 20_000) * 1.05);
  });

  it('estimates nothing if audio that it replaces may have any bit rate', () => {
    const film = format({ videoCodec: 'h264', audioCodec: 'truehd', filesizeBytes: 10_000_000 });
    expect(planTarget(extraction([film]), 'mp4-720', limits).estimatedBytes).toBeNull();
    const opus = { ...film, audioCodec: 'opus' };
    expect(planTarget(extraction([opus]), 'mp4-720', limits).estimatedBytes).toBeGreaterThan(10_000_000);
  });

  it('estimates nothing if the inputs are unknown', () => {
    expect(planTarget(extraction([format()]), 'mp4-720', limits).estimatedBytes).toBeNull();
    const halfKnown = format({ videoBitrateKbps: null, audioBitrateKbps: 128 });
    const page = extraction([halfKnown], { durationSeconds: 60 });
    expect(planTarget(page, 'mp4-720', limits).estimatedBytes).toBeNull();
    const vp8 = format({ videoCodec: 'vp8', filesizeBytes: 1_000_000 });
    expect(planTarget(extraction([vp8]), 'mp4-720', limits).estimatedBytes).toBeNull();
  });
});

describe('planTarget for MP3', () => {
  it('copies MP3 and encodes everything else at 192 kbit/s', () => {
    const copied = planTarget(
      extraction([audioOnly({ audioCodec: 'mp3', filesizeBytes: 1234 })]),
      'mp3',
      limits,
    );
    expect(copied).toMatchObject({ video: null, audio: { action: 'copy' }, estimatedBytes: 1234 });
    const rated = audioOnly({ audioCodec: 'mp3', totalBitrateKbps: 97.405 });
    expect(planTarget(extraction([rated]), 'mp3', limits).estimatedBytes).toBe(1_217_563);
    const encoded = planTarget(extraction([audioOnly()]), 'mp3', limits);
    expect(encoded).toMatchObject({ audio: { action: 'transcode' }, estimatedBytes: 100 * 24_000 });
  });

  it('takes the audio of a video if there is nothing else', () => {
    expect(planTarget(extraction([format()]), 'mp3', limits)).toMatchObject({
      video: null,
      formatIds: ['muxed'],
    });
  });

  it('rejects a silent video', () => {
    expect(codeOf(() => planTarget(extraction([videoOnly()]), 'mp3', limits))).toBe('no_media');
  });
});

describe('planTarget enforces the limits', () => {
  it.each([
    ['duration', extraction([format()], { durationSeconds: 1001 })],
    ['size', extraction([format({ filesizeBytes: 2e9 })])],
  ])('of %s', (_what, tooMuch) => {
    expect(codeOf(() => planTarget(tooMuch, 'mp4-720', limits))).toBe('too_long');
  });

  it('says in hours and minutes that a video is too long', () => {
    const tooLong = extraction([format()], { durationSeconds: 28_830 });
    const eightHours = { ...limits, maxDurationSeconds: 28_800 };
    expect(() => planTarget(tooLong, 'mp3', eightHours)).toThrow(
      'The video lasts 8 h 30 s; this service allows at most 8 h.',
    );
  });

  it.each([
    ['mp4-1080', 'Request mp4-720.'],
    ['mp4-720', 'Use a shorter video.'],
    ['mp3', 'Use a shorter video.'],
  ] as const)('of size, and says what helps against it: %s', (target, remedy) => {
    expect(tooLarge(target, null, limits).message).toContain(remedy);
    expect(tooLarge(target, null, limits).message).toContain(
      'If you run this server: raise STREAM_MAX_BYTES',
    );
  });
});
