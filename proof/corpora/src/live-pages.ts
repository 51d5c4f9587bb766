/** A public page, with what `npm run proof -- live` calls it. */
export interface LivePage {
  readonly name: string;
  readonly url: string;
}

/** Public pages that have stood for years: one for each way in which popular sites offer media. */
export const livePages: readonly LivePage[] = [
  { name: 'YouTube', url: 'https://www.youtube.com/watch?v=jNQXAC9IVRw' },
  { name: 'YouTube, 4K', url: 'https://www.youtube.com/watch?v=aqz-KE-bpKQ' },
  { name: 'Vimeo', url: 'https://vimeo.com/1084537' },
  { name: 'SoundCloud', url: 'https://soundcloud.com/ethmusic/lostin-powers-she-so-heavy' },
  { name: 'TikTok', url: 'https://www.tiktok.com/@scout2015/video/6718335390845095173' },
  { name: 'X', url: 'https://x.com/starwars/status/665052190608723968' },
  { name: 'Reddit', url: 'https://www.reddit.com/r/videos/comments/6rrwyj/that_small_heart_attack/' },
  { name: 'Twitch clip', url: 'https://clips.twitch.tv/FaintLightGullWholeWheat' },
  { name: 'Bandcamp', url: 'https://benprunty.bandcamp.com/track/lanius-battle' },
  {
    name: 'archive.org',
    url: 'https://archive.org/details/XD300-23_68HighlightsAResearchCntAugHumanIntellect',
  },
  { name: 'PeerTube', url: 'https://framatube.org/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d' },
  {
    name: 'Podcast episode',
    url: 'https://podcasts.apple.com/us/podcast/ferreck-dawn-to-the-break-of-dawn-117/id1625658232?i=1000665010654',
  },
  { name: 'Direct MP4', url: 'https://media.w3.org/2010/05/sintel/trailer.mp4' },
  { name: 'DASH manifest', url: 'https://dash.akamaized.net/akamai/bbb_30fps/bbb_30fps.mpd' },
  {
    name: 'News',
    url: 'https://www.nytimes.com/video/opinion/100000002847155/verbatim-what-is-a-photocopier.html',
  },
];

/** Pages of the double, each with a few seconds of media. */
export const doublePages = (youTubeId: string): readonly LivePage[] => [
  { name: 'YouTube', url: `https://www.youtube.com/watch?v=${youTubeId}` },
  { name: 'TikTok', url: 'https://www.tiktok.com/@somebody/video/1' },
  { name: 'X', url: 'https://x.com/somebody/status/1000000000000000001' },
  { name: 'Vimeo', url: 'https://player.vimeo.com/video/100000001' },
  { name: 'Reddit', url: 'https://www.reddit.com/r/somewhere/comments/double1/a_clip/' },
  { name: 'SoundCloud', url: 'https://soundcloud.com/somebody/a-tone' },
  { name: 'Twitch clip', url: 'https://clips.twitch.tv/DoubleClip' },
  { name: 'a page that is gone', url: 'https://www.tiktok.com/nothing-here' },
];
