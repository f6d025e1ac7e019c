/** Formulas as text. */

import { DomUtils } from "htmlparser2";

/** @typedef {import("domhandler").Node} Node */

/** Operators that stand between spaces. */
const SPACED = /^[+−=≠<>≤≥≈∼∈⊆≔→±·×|]$/;

/**
 * A formula on one line.
 *
 * @param {Node} node of MathML
 */
export function formulaOf(node) {
  const line = inLine(node).replace(/\s+/g, " ").trim();
  return line.replace(/(^|[([{,^_/]) ?([+−]) /g, "$1$2"); // a sign, not an operator
}

/**
 * @param {Node} node
 * @returns {string}
 */
function inLine(node) {
  if (!DomUtils.isTag(node)) return DomUtils.textContent(node).replace(/[\s\u2061]+/g, "");
  const parts = node.children.map(inLine);
  const [base = "", second = "", third = ""] = parts;
  switch (node.name) {
    case "mfrac":
      return `${grouped(base)}/${grouped(second)}`;
    case "msup":
      return second === "′" ? base + second : `${base}^${grouped(second)}`;
    case "msub":
    case "munder":
      return `${base}_${grouped(second)}`;
    case "msubsup":
      return `${base}_${grouped(second)}^${grouped(third)}`;
    case "mover":
      return base; // an accent
    case "msqrt":
      return `√${grouped(parts.join(""))}`;
    case "mspace":
      return " ";
    case "mo":
      return SPACED.test(base) ? ` ${base} ` : base.replace(",", ", ");
    default:
      return parts.join("");
  }
}

/** @param {string} part */
function grouped(part) {
  return /^(.|\(.*\)|\w+)$/u.test(part) ? part : `(${part})`;
}
