import type { Random } from './random.js';

/** Draws a silhouette as white SVG on black: its brightness is the exact alpha. */
type Draw = (random: Random, width: number, height: number) => string;
type Point = readonly [number, number];

const point = (cx: number, cy: number, radius: number, angle: number): Point => [
  cx + radius * Math.cos(angle),
  cy + radius * Math.sin(angle),
];
const middle = (a: Point, b: Point): Point => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
const svgPoint = ([x, y]: Point) => `${x},${y}`;

/** A closed curve around a centre. */
function blob(random: Random, cx: number, cy: number, rx: number, ry: number, wobble = 0.08): string {
  const points = Array.from({ length: 12 }, (_, i): Point => {
    const angle = (i / 12) * 2 * Math.PI;
    const k = 1 + random.between(-wobble, wobble);
    return [cx + rx * k * Math.cos(angle), cy + ry * k * Math.sin(angle)];
  });
  const pointAt = (i: number): Point => points[(i + points.length) % points.length] ?? [cx, cy];
  const start = middle(pointAt(-1), pointAt(0));
  const curves = points.map((p, i) => `Q${svgPoint(p)} ${svgPoint(middle(p, pointAt(i + 1)))}`);
  return `<path d="M${svgPoint(start)} ${curves.join(' ')}Z"/>`;
}

/** An animal: body, head, ears, legs, tail. */
const creature: Draw = (random, w, h) => {
  const x = w * random.between(0.42, 0.52);
  const y = h * random.between(0.52, 0.58);
  const s = Math.min(w, h);
  return [
    blob(random, x, y, s * 0.27, s * 0.17),
    blob(random, x + s * 0.27, y - s * 0.19, s * 0.13, s * 0.12),
    `<path d="M${x + s * 0.18},${y - s * 0.27} l${s * 0.02},${-s * 0.12} l${s * 0.08},${s * 0.08}Z"/>`,
    `<path d="M${x + s * 0.29},${y - s * 0.29} l${s * 0.07},${-s * 0.1} l${s * 0.04},${s * 0.12}Z"/>`,
    ...[-0.2, -0.12, 0.12, 0.2].map(
      (dx) =>
        `<rect x="${x + s * dx - s * 0.03}" y="${y}" width="${s * 0.06}" height="${s * 0.3}" rx="${s * 0.03}"/>`,
    ),
    `<path d="M${x - s * 0.25},${y} q${-s * 0.2},${-s * 0.02} ${-s * 0.18},${-s * 0.2}" fill="none" stroke="#fff" stroke-width="${s * 0.035}" stroke-linecap="round"/>`,
  ].join('');
};

/** Hairs that leave the outline of a head and shoulders. */
const portrait: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const x = w * random.between(0.46, 0.54);
  const y = h * 0.42;
  const radius = s * 0.17;
  const hairs = Array.from({ length: 420 }, () => {
    const angle = random.between(-Math.PI * 1.1, Math.PI * 0.1);
    const [x0, y0] = point(x, y, radius * random.between(0.85, 1), angle);
    const [x1, y1] = point(x, y, radius * random.between(1.1, 1.3), angle + random.between(-0.2, 0.2));
    const [x2, y2] = point(x, y, radius * random.between(1.15, 1.6), angle + random.between(-0.5, 0.5));
    return `<path d="M${x0},${y0} Q${x1},${y1} ${x2},${y2}" fill="none" stroke="#fff" stroke-width="${random.between(0.5, 2.2) * (s / 800)}" opacity="${random.between(0.5, 1)}"/>`;
  });
  return [
    blob(random, x, y, radius, radius * 1.2, 0.03),
    `<rect x="${x - s * 0.07}" y="${y}" width="${s * 0.14}" height="${s * 0.3}"/>`,
    `<path d="M${x - s * 0.34},${h} q${s * 0.02},${-h * 0.3} ${s * 0.27},${-h * 0.34} h${s * 0.14} q${s * 0.25},${h * 0.04} ${s * 0.27},${h * 0.34}Z"/>`,
    ...hairs,
  ].join('');
};

/** A chair or a wheel: what the background shows through. */
const withHoles: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const x = w / 2;
  const y = h / 2;
  const spokes = Array.from({ length: 10 }, (_, i) => {
    const angle = (i / 10) * 2 * Math.PI + random.between(0, 0.05);
    const [x1, y1] = point(x, y, s * 0.36, angle);
    return `<line x1="${x}" y1="${y}" x2="${x1}" y2="${y1}" stroke="#fff" stroke-width="${s * 0.022}"/>`;
  });
  return `<circle cx="${x}" cy="${y}" r="${s * 0.36}" fill="none" stroke="#fff" stroke-width="${s * 0.075}"/><circle cx="${x}" cy="${y}" r="${s * 0.08}"/>${spokes.join('')}`;
};

/** A plant: stems and leaves a few pixels wide. */
const thin: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const x = w / 2;
  const stems = Array.from({ length: 14 }, () => {
    const dx = random.between(-0.3, 0.3) * s;
    const top = h * random.between(0.12, 0.4);
    const leaves = Array.from({ length: 3 }, (_, i) => {
      const t = 0.5 + i * 0.2;
      const lx = x + dx * t * t;
      const ly = h * 0.62 + (top - h * 0.62) * t;
      return `<ellipse cx="${lx}" cy="${ly}" rx="${s * random.between(0.02, 0.045)}" ry="${s * 0.011}" transform="rotate(${random.between(-70, 70)} ${lx} ${ly})"/>`;
    });
    return `<path d="M${x},${h * 0.66} Q${x},${h * 0.4} ${x + dx},${top}" fill="none" stroke="#fff" stroke-width="${random.between(1.5, 5) * (s / 800)}"/>${leaves.join('')}`;
  });
  return `${stems.join('')}<path d="M${x - s * 0.13},${h * 0.62} h${s * 0.26} l${-s * 0.04},${h * 0.28} h${-s * 0.18}Z"/>`;
};

/** A bottle with a translucent body. */
const glass: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const x = w * random.between(0.45, 0.55);
  const opacity = random.between(0.35, 0.7);
  return `<g><rect x="${x - s * 0.14}" y="${h * 0.3}" width="${s * 0.28}" height="${h * 0.58}" rx="${s * 0.05}" fill="#fff" opacity="${opacity}"/><rect x="${x - s * 0.15}" y="${h * 0.6}" width="${s * 0.3}" height="${h * 0.3}" rx="${s * 0.04}"/><rect x="${x - s * 0.05}" y="${h * 0.1}" width="${s * 0.1}" height="${h * 0.22}"/></g>`;
};

/** A sharp thing: pot, box and handle. */
const solid: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const x = w * random.between(0.42, 0.55);
  return `<path d="M${x - s * 0.2},${h * 0.35} h${s * 0.4} l${-s * 0.05},${h * 0.5} h${-s * 0.3}Z"/>${blob(random, x, h * 0.3, s * 0.24, s * 0.1, 0.15)}<path d="M${x + s * 0.2},${h * 0.42} q${s * 0.2},${h * 0.1} ${-s * 0.02},${h * 0.25}" fill="none" stroke="#fff" stroke-width="${s * 0.04}"/>`;
};

/** A ball of fur: thousands of short hairs across the outline. */
const fur: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const [x, y] = [w * random.between(0.45, 0.55), h * 0.55];
  const hairs = Array.from({ length: 3000 }, () => {
    const angle = random.between(0, 2 * Math.PI);
    const [x0, y0] = point(x, y, s * random.between(0.25, 0.29), angle);
    const lean = angle + random.between(-0.5, 0.5);
    const [x1, y1] = point(x0, y0, s * random.between(0.015, 0.05), lean);
    return `<path d="M${x0},${y0} L${x1},${y1}" stroke="#fff" stroke-width="${random.between(0.5, 2.5) * (s / 1200)}" stroke-linecap="round" opacity="${random.between(0.5, 1)}"/>`;
  });
  return `${blob(random, x, y, s * 0.28, s * 0.28, 0.02)}${hairs.join('')}`;
};

/** A twig of pointed leaves, each with a stem. */
const leaves: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const [x, bottom, top] = [w / 2, h * 0.95, h * 0.1];
  const twig = `<path d="M${x},${bottom} Q${x + s * random.between(-0.1, 0.1)},${h / 2} ${x},${top}" fill="none" stroke="#fff" stroke-width="${s * 0.012}"/>`;
  const blades = Array.from({ length: 36 }, (_, i) => {
    const y = bottom + ((top - bottom) * (i + 2)) / 38;
    const length = s * random.between(0.12, 0.24);
    const degrees = (i % 2 === 0 ? 0 : 180) + random.between(-40, 40);
    return `<g transform="translate(${x} ${y}) rotate(${degrees})"><path d="M0,0 h${length * 0.2} q${length * 0.4},${-length * 0.28} ${length * 0.8},0 q${-length * 0.4},${length * 0.28} ${-length * 0.8},0Z"/><path d="M0,0 h${length * 0.2}" stroke="#fff" stroke-width="${s * 0.005}"/></g>`;
  });
  return twig + blades.join('');
};

/** A poster's letters, as strokes: no font needs to be installed. */
const text: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const glyphs: [string, ...string[]] = [
    'M0,1V0L.6,1V0',
    'M.6,0H0V1H.6M0,.5H.5',
    'M0,0L.15,1L.3,.4L.45,1L.6,0',
    'M.6,.1Q0,-.15 .05,.28T.55,.72T0,.9',
    'M.3,0Q0,0 0,.5T.3,1T.6,.5T.3,0',
  ];
  return Array.from({ length: 15 }, (_, i) => {
    const size = s * (i < 5 ? 0.26 : i < 10 ? 0.16 : 0.07);
    const row = Math.floor(i / 5);
    const left = w / 2 + ((i % 5) - 2.5) * size * 0.9;
    const upper = h * (0.18 + 0.3 * row);
    return `<path transform="translate(${left} ${upper}) scale(${size})" d="${random.pick(glyphs)}" fill="none" stroke="#fff" stroke-width="${random.between(0.1, 0.2)}"/>`;
  }).join('');
};

/** Three people side by side: heads, arms apart from the bodies, legs. */
const people: Draw = (random, w, h) => {
  const s = Math.min(w, h);
  const person = (x: number, size: number): string => {
    const y = h * 0.95 - size;
    const limb = (from: Point, to: Point, thickness: number): string =>
      `<line x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}" stroke="#fff" stroke-width="${size * thickness}" stroke-linecap="round"/>`;
    const hand = (side: number): Point => [
      x + side * size * random.between(0.16, 0.26),
      y + size * random.between(0.2, 0.5),
    ];
    return [
      blob(random, x, y + size * 0.08, size * 0.065, size * 0.08, 0.04),
      `<rect x="${x - size * 0.1}" y="${y + size * 0.17}" width="${size * 0.2}" height="${size * 0.36}" rx="${size * 0.05}"/>`,
      ...[-1, 1].flatMap((side) => [
        limb([x + side * size * 0.09, y + size * 0.2], hand(side), 0.05),
        limb([x + side * size * 0.05, y + size * 0.5], [x + side * size * 0.08, y + size * 0.98], 0.075),
      ]),
    ].join('');
  };
  return [-0.42, 0, 0.42]
    .map((offset) => person(w / 2 + offset * s, s * random.between(0.72, 0.86)))
    .join('');
};

/** Groups of scenes, and what the lens does to their edges. */
export const shapes = {
  solid: { draw: solid, blur: 0 },
  creature: { draw: creature, blur: 0 },
  soft: { draw: creature, blur: 3.5 },
  hair: { draw: portrait, blur: 0 },
  holes: { draw: withHoles, blur: 0 },
  thin: { draw: thin, blur: 0 },
  translucent: { draw: glass, blur: 0 },
  fur: { draw: fur, blur: 0 },
  leaves: { draw: leaves, blur: 0 },
  text: { draw: text, blur: 0 },
  people: { draw: people, blur: 0 },
} satisfies Record<string, { draw: Draw; blur: number }>;

export type ShapeName = keyof typeof shapes;
