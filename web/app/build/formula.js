import temml from "temml";

/**
 * A formula in TeX as MathML, for pages whose policy allows no inline style and that run no typesetter.
 *
 * @param {string} tex
 * @param {boolean} isDisplay
 * @returns {string}
 */
export function formula(tex, isDisplay) {
  const math = temml
    .renderToString(tex, { displayMode: isDisplay, throwOnError: true, annotate: false })
    .replace(/ style="[^"]*"/g, "") // this only drops small spaces
    // Browsers take variables from Mathematical Italic, which few text fonts have: CSS slants them.
    .replace(
      /<mi(?: class="[^"]*")?>(.)<\/mi>/gu,
      '<mi mathvariant="normal" class="variable">$1</mi>',
    );
  // Fonts decide whether a formula fits: a box that may scroll must take the focus.
  return isDisplay
    ? `<div class="formula" tabindex="0" role="group" aria-label="Formula">${math}</div>`
    : math;
}
