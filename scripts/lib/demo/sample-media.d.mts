export const film: {
  readonly title: string;
  readonly durationSeconds: number;
  readonly heights: readonly number[];
};
export function makeSampleFilm(folder: string): Promise<void>;
