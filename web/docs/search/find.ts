/** Finds sections of pages. */

import MiniSearch, { type Query, type SearchOptions } from "minisearch";
import type { SearchedPage, Section } from "../build/sections.js";
import { termsOf, type Word, wordsOf } from "./terms";

interface Place {
  page: SearchedPage;
  section: Section;
}

/** A section that was found. */
export interface Found extends Place {
  /** Terms of the section that match the query. */
  terms: ReadonlySet<string>;
}

export type Find = (query: string) => Found[];

/** Weights of the fields. */
const BOOST = { page: 2, heading: 5, text: 1, code: 0.7 };

export const MOST = 30;
const MOST_OF_A_PAGE = 3;

/** Words of questions, which say nothing about their subject. */
const COMMON = new Set(
  "a an and are can do does for how i in is it of on or the to what".split(" "),
);

/** Concepts explain a word that other pages use; calculators have attributes of the same names. */
const FOLDERS: Record<string, number> = { concepts: 1.5, embeds: 0.7 };

/** Sections that only name the works of others. */
const REFERENCES = /^(Sources|Further reading)$/;

const isLong = (term: string) => term.length > 4 && !/\d/.test(term);

/** The first of these that finds anything counts. */
const ATTEMPTS = [
  { combineWith: "AND", prefix: (term) => term.length > 2, fuzzy: (term) => isLong(term) && 1 },
  { combineWith: "AND", prefix: true, fuzzy: (term) => isLong(term) && 2 },
  { combineWith: "OR", prefix: true, fuzzy: (term) => isLong(term) && 1 },
] as const satisfies SearchOptions[];

/** What is indexed of a section. */
interface Indexed {
  id: number;
  page: string;
  heading: string;
  text: string;
  code: string;
}

export function finder(pages: SearchedPage[]): Find {
  const sections = pages.flatMap((page) => page.sections.map((section) => ({ page, section })));
  const index = new MiniSearch<Indexed>({
    fields: ["page", "heading", "text", "code"],
    tokenize: (text) => termsOf(text).map(({ term }) => term),
    processTerm: (term) => term,
    searchOptions: {
      boost: BOOST,
      weights: { fuzzy: 0.2, prefix: 0.5 },
      boostDocument: (id) => (sections[id] === undefined ? 1 : importance(sections[id])),
      tokenize: (term) => [term],
    },
  });
  index.addAll(sections.map(indexed));

  return (text) => {
    const words = wordsOf(text);
    const telling = words.filter(({ wholes }) => !wholes.some(({ term }) => COMMON.has(term)));
    const queries = (telling.length > 0 ? telling : words).map(queryOf);
    for (const attempt of ATTEMPTS) {
      const results = index.search({ queries, ...attempt });
      if (results.length === 0) continue;
      const found = results.flatMap(({ id, match }) => {
        const each = sections[id];
        return each === undefined ? [] : [{ ...each, terms: new Set(Object.keys(match)) }];
      });
      return fewOfEach(found).slice(0, MOST);
    }
    return [];
  };
}

function indexed({ page, section }: Place, id: number): Indexed {
  const { heading, text, code } = section;
  const titles = `${page.title} ${page.label}`;
  return { id, page: titles, heading: section.id === "" ? titles : heading, text, code };
}

function importance({ page, section }: Place): number {
  if (REFERENCES.test(section.heading)) return 0.3;
  return FOLDERS[page.url.replace(/\/.*/, "")] ?? 1;
}

/** A word as a whole, and less so by all of its parts. */
function queryOf({ wholes, parts }: Word): Query {
  const queries: Query[] = wholes.map(({ term }) => term);
  if (parts.length > 0) {
    const lower = Object.entries(BOOST).map(([field, boost]) => [field, boost / 4]);
    queries.push({
      queries: parts.map(({ term }) => term),
      combineWith: "AND",
      prefix: false,
      fuzzy: false,
      boost: Object.fromEntries(lower),
    });
  }
  return { queries, combineWith: "OR" };
}

function fewOfEach(found: Found[]): Found[] {
  const counts = new Map<SearchedPage, number>();
  return found.filter(({ page }) => {
    const count = (counts.get(page) ?? 0) + 1;
    counts.set(page, count);
    return count <= MOST_OF_A_PAGE;
  });
}
