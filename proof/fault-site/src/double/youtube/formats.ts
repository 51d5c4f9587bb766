import { stat } from 'node:fs/promises';
import { medium, mediaSeconds, typeOf, type MediumName } from '../media.js';
import type { Ticket } from './tickets.js';
import type { Track, Video } from './videos.js';

interface Itag {
  readonly codecs: string;
  readonly height?: number;
  readonly hasSound: boolean;
}

/** The simulated YouTube formats, by YouTube's format number. */
const itags: Readonly<Record<number, Itag>> = {
  18: { codecs: 'avc1.42001E, mp4a.40.2', height: 360, hasSound: true },
  134: { codecs: 'avc1.4d401e', height: 360, hasSound: false },
  136: { codecs: 'avc1.4d401f', height: 720, hasSound: false },
  137: { codecs: 'avc1.640028', height: 1080, hasSound: false },
  140: { codecs: 'mp4a.40.2', hasSound: true },
  248: { codecs: 'vp9', height: 1080, hasSound: false },
  251: { codecs: 'opus', hasSound: true },
};

const mediaOfVideo: Readonly<Record<number, MediumName>> = {
  18: 'both-360.mp4',
  134: 'avc-360.mp4',
  136: 'avc-720.mp4',
  137: 'avc-1080.mp4',
  248: 'vp9-1080.webm',
};

/** The file of one format of a track. */
export function mediumOf(video: Video, itag: number, track: Track | undefined): MediumName | undefined {
  if (itag === 137 && video.isLarge) return 'avc-1080-large.mp4';
  const pictures = mediaOfVideo[itag];
  if (pictures !== undefined) return pictures;
  const tone = track?.tone ?? 'original';
  if (itag === 140) return `aac-${tone}.m4a`;
  return itag === 251 ? `opus-${tone === 'dub' ? 'dub' : 'original'}.webm` : undefined;
}

/** The formats of a video as `streamingData` lists them: without URLs if only the site's own protocol (SABR) is offered. */
export async function streamingFormats(
  ticket: Ticket,
  offer: 'addresses' | 'sabr',
): Promise<{ formats: unknown[]; adaptiveFormats: unknown[] }> {
  const { video } = ticket;
  const numbers = offer === 'addresses' ? video.itags : [137, 140];
  const listed = await Promise.all(
    numbers.flatMap((number) =>
      tracksOf(video, number).map(async (track) => describe(ticket, number, track, offer)),
    ),
  );
  const isWhole = ({ itag }: { itag: number }) => itag === 18;
  return { formats: listed.filter(isWhole), adaptiveFormats: listed.filter((each) => !isWhole(each)) };
}

/** Video-only formats, and those with both, have one language. */
function tracksOf({ tracks }: Video, number: number): readonly Track[] {
  return itags[number]?.hasSound === true && number !== 18 ? tracks : tracks.slice(-1);
}

async function describe(ticket: Ticket, number: number, track: Track, offer: 'addresses' | 'sabr') {
  const { codecs, height, hasSound } = itags[number] ?? { codecs: '', hasSound: false };
  const name = mediumOf(ticket.video, number, track);
  if (name === undefined) throw new Error(`the double has no format ${number}`);
  const size = (await stat(await medium(name))).size;
  const bitrate = Math.round((size * 8) / mediaSeconds) + (track.extraBitrate ?? 0);
  return {
    itag: number,
    mimeType: `${hasSound && height === undefined ? typeOf(name).replace('video/webm', 'audio/webm') : typeOf(name)}; codecs="${codecs}"`,
    bitrate,
    averageBitrate: bitrate,
    contentLength: String(size),
    approxDurationMs: String(mediaSeconds * 1000),
    ...(height !== undefined && {
      width: Math.round((height * 16) / 9),
      height,
      fps: 25,
      qualityLabel: `${height}p`,
      quality: height > 720 ? 'hd1080' : height > 360 ? 'hd720' : 'medium',
    }),
    ...(hasSound && { audioQuality: 'AUDIO_QUALITY_MEDIUM', audioSampleRate: '48000', audioChannels: 2 }),
    ...(hasSound &&
      track.id !== '' && {
        audioTrack: { id: track.id, displayName: track.name, audioIsDefault: track.isDefault },
      }),
    ...(track.isCompressed === true && { isDrc: true }),
    ...(ticket.video.drm && { drmFamilies: ['WIDEVINE'] }),
    ...(offer === 'addresses' && { signatureCipher: cipher(ticket, number, track) }),
  };
}

function cipher(ticket: Ticket, number: number, track: Track): string {
  const address = new URLSearchParams({
    expire: String(ticket.expire),
    ei: ticket.name,
    id: ticket.id,
    itag: String(number),
    track: String(ticket.video.tracks.indexOf(track)),
    n: ticket.throttling,
  });
  const url = `https://rr1---sn-double.googlevideo.com/videoplayback?${address.toString()}`;
  return new URLSearchParams({ s: ticket.signature, sp: 'sig', url }).toString();
}
