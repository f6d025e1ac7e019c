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
const BOOST = { heading: 5, code: 0.7 };

export const MOST = 30;
const MOST_OF_A_PAGE = 3;

/** Words of questions, which say nothing about their subject. */
const COMMON = new Set(terms("a an and are can do does for how I in is it of on or the to what"));

function terms(text: string): string[] {
  return termsOf(text).map(({ term }) => term);
}

/** Concepts explain a word that other pages use. */
const CONCEPT = 1.5;

/** A page begins with what it is about. */
const BEGINNING = 1.4;

/** Typing errors that are allowed in a word: none in short ones and numbers. */
const typos = (count: number) => (term: string) => term.length > 4 && !/\d/.test(term) && count;

/** The first of these that finds anything counts. */
const ATTEMPTS = [
  { combineWith: "AND", prefix: (term) => term.length > 2 },
  { combineWith: "AND", prefix: true, fuzzy: typos(1) },
  { combineWith: "AND", prefix: true, fuzzy: typos(2) },
  { combineWith: "OR", prefix: true, fuzzy: typos(1) },
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
    tokenize: terms,
    processTerm: (term) => term,
    searchOptions: {
      boost: BOOST,
      boostDocument: (id) => (sections[id] === undefined ? 1 : importance(sections[id])),
      tokenize: (term) => [term],
    },
  });
  index.addAll(sections.map(indexed));

  return (text) => {
    const words = wordsOf(text);
    const specific = words.filter(({ wholes }) => !wholes.some(({ term }) => COMMON.has(term)));
    const queries = (specific.length > 0 ? specific : words).map(queryOf);
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
  const titles = `${page.title} ${page.label} ${page.url}`;
  return { id, page: titles, heading: section.id === "" ? titles : heading, text, code };
}

function importance({ page, section }: Place): number {
  const isConcept = page.url.startsWith("concepts/");
  return (isConcept ? CONCEPT : 1) * (section.id === "" ? BEGINNING : 1);
}

/** A word as a whole, or by all of its parts. */
function queryOf({ wholes, parts }: Word): Query {
  const whole: Query[] = wholes.map(({ term }) => term);
  const queries = parts.map(({ term }) => term);
  const all: Query = { queries, combineWith: "AND", prefix: false, fuzzy: false };
  return { queries: queries.length > 0 ? [...whole, all] : whole, combineWith: "OR" };
}

function fewOfEach(found: Found[]): Found[] {
  const counts = new Map<SearchedPage, number>();
  return found.filter(({ page }) => {
    const count = (counts.get(page) ?? 0) + 1;
    counts.set(page, count);
    return count <= MOST_OF_A_PAGE;
  });
}
