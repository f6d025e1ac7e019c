/** Heights of labels near their `ideal` ones, between `top` and `bottom` and at least `gap` apart
 * where there is room. */
export function apart(
  ideal: readonly number[],
  top: number,
  bottom: number,
  gap: number,
): number[] {
  const order = ideal.map((_, index) => index);
  order.sort((one, other) => (ideal[one] ?? 0) - (ideal[other] ?? 0));
  const found = [...ideal];
  let least = top;
  for (const index of order) {
    found[index] = Math.max(found[index] ?? top, least);
    least = found[index] + gap;
  }
  let most = bottom;
  for (const index of order.reverse()) {
    found[index] = Math.min(found[index] ?? bottom, most);
    most = found[index] - gap;
  }
  return found;
}

export interface Size {
  width: number;
  height: number;
}

/** Size of text in a chart, as `styles/charts.css` sets it. */
const FONT_SIZE = 13;
let context: CanvasRenderingContext2D | null | undefined;

/** Size of a chart's label in the reader's font. Without a document, when the first paint is made, that
 * of a wide font with usual lines. */
export function labelSize(words: string, weight: 400 | 600 = 400): Size {
  if (typeof document === "undefined") {
    return { width: 0.62 * FONT_SIZE * words.length, height: 1.2 * FONT_SIZE };
  }
  context ??= document.createElement("canvas").getContext("2d");
  if (context === null) throw new Error("no canvas to measure text with");
  const { fontFamily } = getComputedStyle(document.documentElement);
  context.font = `${weight} ${FONT_SIZE}px ${fontFamily}`;
  const { width, fontBoundingBoxAscent, fontBoundingBoxDescent } = context.measureText(words);
  return { width, height: fontBoundingBoxAscent + fontBoundingBoxDescent };
}

/** The middle of a label near its `ideal` one, so that it starts at `left` or later and ends at `right`
 * or earlier. */
export function middleWithin(ideal: number, width: number, left: number, right: number): number {
  return Math.max(Math.min(ideal, right - width / 2), left + width / 2);
}
