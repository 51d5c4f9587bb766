import type { Exchange } from '../exchange.js';

/** German captions by a person, and automatic English ones, which YouTube offers to translate. */
export function captionsOf(id: string): unknown {
  const track = (language: string, name: string, vssId: string, kind?: string) => ({
    baseUrl: `https://www.youtube.com/api/timedtext?v=${id}&lang=${language}${kind === undefined ? '' : `&kind=${kind}`}`,
    name: { simpleText: name },
    vssId,
    languageCode: language,
    isTranslatable: true,
    ...(kind !== undefined && { kind }),
  });
  return {
    playerCaptionsTracklistRenderer: {
      captionTracks: [track('de', 'German', '.de'), track('en', 'English (auto-generated)', 'a.en', 'asr')],
      translationLanguages: ['en', 'de', 'fr'].map((languageCode) => ({
        languageCode,
        languageName: { simpleText: languageCode.toUpperCase() },
      })),
    },
  };
}

/** Only in its own format: in the others, automatic lines are repeated while they scroll. Too many requests for translations. */
export function timedText(exchange: Exchange): Promise<void> {
  const { searchParams } = exchange.url;
  if (searchParams.has('tlang')) return exchange.refuse(429);
  if (searchParams.get('fmt') !== 'json3') return exchange.refuse(404);
  return exchange.json({ wireMagic: 'pb3', events: searchParams.has('kind') ? automatic : written });
}

const written = [
  { tStartMs: 500, dDurationMs: 1000, segs: [{ utf8: 'Guten Tag,\n<b>zusammen</b>' }] },
  { tStartMs: 2000, dDurationMs: 1000, segs: [{ utf8: '{\\an8}Käse & Brot' }] },
];

/** Each line stays while the next one is written. */
const automatic = [
  { tStartMs: 0, dDurationMs: 4000, id: 1, wpWinPosId: 1, wsWinStyleId: 1 },
  {
    tStartMs: 500,
    dDurationMs: 2500,
    wWinId: 1,
    segs: [
      { utf8: 'hello', acAsrConf: 0 },
      { utf8: ' world', tOffsetMs: 300 },
    ],
  },
  { tStartMs: 1500, dDurationMs: 1500, wWinId: 1, aAppend: 1, segs: [{ utf8: '\n' }] },
  {
    tStartMs: 1500,
    dDurationMs: 2000,
    wWinId: 1,
    segs: [{ utf8: 'this is' }, { utf8: ' a test', tOffsetMs: 200 }],
  },
];
