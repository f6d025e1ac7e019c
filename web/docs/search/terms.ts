/** Terms of a text: what is indexed, and what a query is compared with. */

/** A term, with its place in the text. */
export interface Term {
  term: string;
  start: number;
  end: number;
}

/** A word, with what else it is found by. */
export interface Word {
  /** The most particular first: an option with its dashes, then the word in one piece. */
  wholes: Term[];
  /** Of a word that has several. */
  parts: Term[];
}

/** Numbers, and words with the hyphens and underscores within them and the dashes of an option. */
const WORDS =
  /\d+(?:[.,]\d+)+|(?:(?<![\p{L}\p{N}])--)?[\p{L}\p{M}\p{N}]+(?:[-_‑][\p{L}\p{M}\p{N}]+)*/gu;
/** Between parts: at hyphens, between `aB`, and around Greek letters. */
const PARTS = /(?=[-_‑])|(?<=[-_‑])|(?<=\p{Ll})(?=\p{Lu})|(?=\p{scx=Greek})|(?<=\p{scx=Greek})/u;

/** Symbols side by side, such as εβ, which are no word. */
const PRODUCT = /^(?=.*\p{scx=Greek})[\p{L}\p{N}]+$/u;

const GREEK: Record<string, string> = {
  α: "alpha",
  β: "beta",
  γ: "gamma",
  δ: "delta",
  ε: "epsilon",
  ζ: "zeta",
  η: "eta",
  θ: "theta",
  ι: "iota",
  κ: "kappa",
  λ: "lambda",
  μ: "mu",
  ν: "nu",
  ξ: "xi",
  ο: "omicron",
  π: "pi",
  ρ: "rho",
  σ: "sigma",
  ς: "sigma",
  τ: "tau",
  υ: "upsilon",
  φ: "phi",
  χ: "chi",
  ψ: "psi",
  ω: "omega",
};

/**
 * Words of a text. One of several parts is a term as well, without what joins them, so that
 * `--noise-multiplier`, `noise_multiplier` and `NoiseMultiplier` are the same.
 */
export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORDS)].map(({ 0: word, index }) => {
    const end = index + word.length;
    const whole = { term: normal(word), start: index, end };
    if (/^(?:[a-z]+|[\d.,]+)$/.test(word)) return { wholes: [whole], parts: [] };
    const isOption = word.startsWith("--");
    const option = isOption ? [{ term: `--${whole.term}`, start: index, end }] : [];
    const parts = partsOf(word, index);
    if (parts.length < 2) return { wholes: [...option, whole], parts: [] };
    return { wholes: PRODUCT.test(word) ? [] : [...option, whole], parts };
  });
}

function partsOf(word: string, index: number): Term[] {
  let end = index;
  return word.split(PARTS).flatMap((part) => {
    const start = end;
    end += part.length;
    const term = normal(part);
    return term === "" ? [] : [{ term, start, end }];
  });
}

/** Terms of a text for the index. */
export function termsOf(text: string): Term[] {
  return wordsOf(text).flatMap(({ wholes, parts }) => [...wholes, ...parts]);
}

/** In lower case and the singular, without accents and hyphens; a Greek letter by its name. */
function normal(word: string): string {
  const isPlain = /^[a-z]+$/.test(word);
  return singular(isPlain ? word : plain(word));
}

function plain(word: string): string {
  const bare = word
    .normalize("NFKD")
    .replace(/[\p{M}\-_‑,]/gu, "")
    .toLowerCase();
  return bare.replace(/\p{scx=Greek}/gu, (letter) => GREEK[letter] ?? letter);
}

function singular(term: string): string {
  if (term.length < 4) return term;
  return term.replace(/ies$/, "y").replace(/(?<=[^s])s$/, "");
}
