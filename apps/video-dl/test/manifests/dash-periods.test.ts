import { readManifest } from '../../src/manifests/dash-manifest.js';
import { dashTable } from '../../src/manifests/dash-segments.js';
import { SegmentList } from '../../src/relay/segment-list.js';

const url = 'https://media.example/film/manifest.mpd';

/** The names of the segments and their total length. @param contents of the only track in each period, with the period's seconds */
function listed(...contents: readonly (readonly [seconds: number, content: string])[]) {
  const periods = contents.map(
    ([seconds, content]) =>
      `<Period duration="PT${seconds}S"><AdaptationSet contentType="video"><Representation id="v">${content}</Representation></AdaptationSet></Period>`,
  );
  const mpd = readManifest(`<MPD>${periods.join('')}</MPD>`, 1000);
  const wanted = { id: 'v', kind: 'video', bandwidth: null } as const;
  const list = new SegmentList(dashTable(mpd, { url, wanted, maxSegments: 100 }), {});
  const names = Array.from({ length: list.length }, (_, number) =>
    list.segment(number).url.split('/').at(-1),
  );
  return { names, seconds: list.totalSeconds };
}

const file = (name: string, offset = 0): string =>
  `<BaseURL>${name}.mp4</BaseURL><SegmentBase timescale="10" presentationTimeOffset="${offset}"/>`;
const timeline = (offset: number): string =>
  `<SegmentTemplate media="$Number$.m4s" timescale="10" presentationTimeOffset="${offset}"><SegmentTimeline><S t="0" d="20" r="3"/></SegmentTimeline></SegmentTemplate>`;

describe('the periods of a DASH manifest', () => {
  it('that divide a file read it once', () => {
    expect(listed([4, file('film')], [6, file('film', 40)])).toEqual({ names: ['film.mp4'], seconds: 10 });
  });

  it('that repeat a file read it again', () => {
    const { names } = listed([2, file('advert')], [2, file('advert')], [10, file('film')]);
    expect(names).toEqual(['advert.mp4', 'advert.mp4', 'film.mp4']);
  });

  it('are rejected if they play one file around another', () => {
    expect(() => listed([4, file('film')], [2, file('advert')], [6, file('film', 40)])).toThrow(
      'plays one file in parts',
    );
  });

  it.each([
    [4, 4],
    [3, 5],
  ])('of %i and %i s that list all segments play each once', (first, second) => {
    expect(listed([first, timeline(0)], [second, timeline(10 * first)])).toEqual({
      names: ['1.m4s', '2.m4s', '3.m4s', '4.m4s'],
      seconds: 8,
    });
  });

  it('have every segment if the times of one do not count from its offset', () => {
    const advert = `<SegmentTemplate media="a$Number$.m4s" timescale="10"><SegmentTimeline><S t="4000" d="20"/></SegmentTimeline></SegmentTemplate>`;
    expect(listed([8, timeline(0)], [2, advert], [8, timeline(0)]).names).toEqual([
      ...['1.m4s', '2.m4s', '3.m4s', '4.m4s', 'a1.m4s'],
      ...['1.m4s', '2.m4s', '3.m4s', '4.m4s'],
    ]);
  });

  it('play a segment at their boundary once, whatever its time is rounded to', () => {
    const content = (offset: number) =>
      `<SegmentTemplate media="$Number$.m4s" timescale="1000" presentationTimeOffset="${offset}"><SegmentTimeline><S t="0" d="669" r="5"/></SegmentTimeline></SegmentTemplate>`;
    expect(listed([2.007, content(0)], [2.007, content(2007)]).names).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `${number}.m4s`),
    );
  });

  it('have all segments of the last one, even if it understates its length', () => {
    expect(listed([7, timeline(0)]).names).toHaveLength(4);
  });
});
