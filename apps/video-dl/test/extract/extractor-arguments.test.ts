import { parseExtractorArguments } from '../../dist/extract/extractor-arguments.js';

describe('parseExtractorArguments', () => {
  it.each([
    ['', {}],
    ['youtube:player_client=tv,web', { youtube: { player_client: ['tv', 'web'] } }],
    [
      'youtube:player-client=tv;po_token=web.gvs+abc==  generic:impersonate',
      { youtube: { player_client: ['tv'], po_token: ['web.gvs+abc=='] }, generic: { impersonate: [''] } },
    ],
    ['YouTube:lang=a\\,b,c', { youtube: { lang: ['a,b', 'c'] } }],
  ])('reads “%s” as yt-dlp does', (text, found) => {
    expect(parseExtractorArguments(text)).toEqual(found);
  });

  it.each(['youtube', 'youtube:', ':x=1', 'you tube:x=1 y', 'youtube:=1'])('refuses “%s”', (text) => {
    expect(() => parseExtractorArguments(text)).toThrow(TypeError);
  });
});
