/** Widths of the page's parts in CSS pixels, as in the style sheets: charts are drawn at their displayed
 * size, so that their text has the right size. */
export interface Layout {
  /** All content. */
  content: number;
  /** The column of Explore. */
  column: number;
  /** Inside a panel of that column. */
  panel: number;
  /** Inside a panel next to a form. */
  split: number;
  /** Inside a panel of all content. */
  wide: number;
}

const MOST = 1320;
/** Minimum width: a window that closes has none. */
const LEAST = 220;
const WIDE = 980;
/** Between charts. */
const GAP = 28;

export function layoutOf(viewport: number): Layout {
  const gutter = between(16, 0.04 * viewport, 40);
  const content = Math.max(LEAST, Math.min(MOST, viewport) - 2 * gutter);
  const isWide = viewport >= WIDE;
  const column = isWide ? content - 344 : content;
  const side = isWide ? content - 380 : content;
  const padding = between(16, 0.022 * viewport, 26) + 1;
  const around = 2 * padding - (viewport <= 560 ? gutter : 0);
  const inside = (width: number) => Math.max(LEAST, Math.round(width - around));
  return {
    content: Math.round(content),
    column: Math.round(column),
    panel: inside(column),
    split: inside(side),
    wide: inside(content),
  };
}

/** Width of each of some charts side by side, as the style sheet places them: each has 346 px or more. */
export function chartWidthIn(width: number, charts: number): number {
  const columns = between(1, Math.floor((width + GAP) / (346 + GAP)), charts);
  return Math.floor((width - GAP * (columns - 1)) / columns);
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
