import { audioClip, type ClipTimes } from './clip.js';
import type { AudioTrack } from './track-plan.js';

/** Constant bit rate of the MP3s we encode. */
export const mp3BitrateKbps = 192;

/** Bit rate of AAC, to which we encode audio that MP4 players don't support. */
export const aacBitrateKbps = 160;

/** The exact length of an MP3's audio. */
export interface AudioTrim {
  sampleRate: number;
  samples: number;
}

/** Some files state only the number of channels, which the encoder rejects. */
const aacLayouts = 'mono|stereo|2.1|3.0|4.0|quad|5.0|5.0(side)|5.1|5.1(side)|6.1|7.1';

export function mp4AudioOptions(audio: AudioTrack, cut: ClipTimes | null): string[] {
  if (audio.action === 'transcode') {
    const layouts = `aformat=channel_layouts=${aacLayouts}`;
    const filters = ['aresample=async=1', ...audioClip(cut), layouts];
    return ['-c:a', 'aac', '-b:a', `${aacBitrateKbps}k`, '-af', filters.join(',')];
  }
  // AAC in a transport stream has ADTS headers, which MP4 doesn't allow. The filter leaves other AAC unchanged.
  return ['-c:a', 'copy', '-bsf:a', 'aac_adtstoasc'];
}

/**
 * MP3 supports 192 kbit/s at these sample rates. Gaps between timestamps are filled with
 * silence, because MP3 can't represent them.
 */
export function mp3EncoderOptions(
  { ignoresTimes = false }: AudioTrack,
  trim: AudioTrim | null,
  clip: ClipTimes | null,
): string[] {
  const filters = [
    ...[ignoresTimes ? 'aresample' : 'aresample=async=1', ...audioClip(clip)],
    `aformat=sample_rates=${trim?.sampleRate ?? '44100|48000'}:channel_layouts=mono|stereo`,
    ...(trim === null ? [] : [`atrim=end_sample=${trim.samples}`]),
  ];
  return ['-c:a', 'libmp3lame', '-b:a', `${mp3BitrateKbps}k`, '-af', filters.join(',')];
}
