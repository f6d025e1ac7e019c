/** What is shown of a section that was found: the passage that matches best. */

import type { Found } from "./find";
import { termsOf } from "./terms";

/** A piece of text, and whether the query names it. */
export interface Piece {
  text: string;
  isMatch: boolean;
}

/** A passage, of text or of code. */
export interface Passage {
  pieces: Piece[];
  isCode: boolean;
}

interface Match {
  term: string;
  start: number;
  end: number;
}

/** In characters. */
const LONGEST = 170;
/** Before the first match. */
const LEAD = 40;

/** A text in pieces. */
export function marked(text: string, terms: ReadonlySet<string>): Piece[] {
  return pieces(text, matchesIn(text, terms), 0, text.length);
}

/** The line of a section with the most of the terms; its first line if only its heading has them. */
export function passageOf({ section, terms }: Found): Passage {
  const lines = (text: string, isCode: boolean) =>
    text === "" ? [] : text.split("\n").map((line) => ({ line, isCode }));
  let best = { line: "", isCode: false, matches: [] as Match[], weight: -1 };
  for (const { line, isCode } of [...lines(section.text, false), ...lines(section.code, true)]) {
    const matches = matchesIn(line, terms);
    const weight = weightOf(matches);
    if (weight > best.weight) best = { line, isCode, matches, weight };
  }
  const { line, isCode, matches } = best;
  const [start, end] = windowOf(line, matches);
  const shown = pieces(line, matches, start, end);
  const cut = (text: string) => ({ text, isMatch: false });
  return {
    pieces: [
      ...(start > 0 ? [cut("… ")] : []),
      ...shown,
      ...(end < line.length ? [cut("\u00a0…")] : []),
    ],
    isCode,
  };
}

function matchesIn(text: string, terms: ReadonlySet<string>): Match[] {
  return termsOf(text).filter(({ term }) => terms.has(term));
}

/** Long terms say more than short ones, and each counts once. */
function weightOf(matches: Match[]): number {
  return [...new Set(matches.map(({ term }) => term))].join("").length;
}

/** The part of a line that is shown: around the most of its matches, between words. */
function windowOf(line: string, matches: Match[]): [start: number, end: number] {
  if (line.length <= LONGEST) return [0, line.length];
  let best = { from: 0, weight: 0 };
  for (const { start } of matches) {
    const last = start - LEAD + LONGEST;
    const near = matches.filter((match) => match.start >= start && match.end <= last);
    const weight = weightOf(near);
    if (weight > best.weight) best = { from: start, weight };
  }
  const from = Math.min(best.from - LEAD, line.length - LONGEST);
  const start = from <= 0 ? 0 : line.indexOf(" ", from) + 1;
  const space = line.lastIndexOf(" ", start + LONGEST);
  const end = start + LONGEST >= line.length ? line.length : Math.max(space, best.from);
  return [start, end];
}

function pieces(line: string, matches: Match[], from: number, to: number): Piece[] {
  const found: Piece[] = [];
  const add = (start: number, end: number, isMatch: boolean) => {
    if (end > start) found.push({ text: line.slice(start, end), isMatch });
  };
  let at = from;
  for (const match of matches.toSorted((one, other) => one.start - other.start)) {
    if (match.start < at || match.end > to) continue; // cut off, or part of a word that is marked
    add(at, match.start, false);
    add(match.start, match.end, true);
    at = match.end;
  }
  add(at, to, false);
  return found;
}
