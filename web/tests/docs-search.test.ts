/** The search of the documentation: what is indexed of the built pages, and what is found first. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SearchedPage, searchedPage, searchedPages } from "../docs/build/sections.js";
import { finder } from "../docs/search/find";
import { marked, type Piece, passageOf } from "../docs/search/passage";
import { EXAMPLES, statusOf } from "../docs/search/results";
import { termsOf } from "../docs/search/terms";
import { built, pagesOf } from "./built-pages";

const JSON_FILE = new URL("../dist/docs/search.json", import.meta.url);
const PAGES: SearchedPage[] = JSON.parse(readFileSync(JSON_FILE, "utf8"));
const find = finder(PAGES);

const page = (body: string) =>
  `<nav><a aria-current="page">Label</a></nav><article>${body}</article>`;
const sectionOf = (body: string) => searchedPage(page(`<h1>T</h1>${body}`), "a/").sections[0];
const shown = (pieces: Piece[]) =>
  pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join("");
const terms = (text: string) => termsOf(text).map(({ term }) => term);

/** Addresses of what is found, the best first. */
function addresses(query: string): string[] {
  return find(query).map(({ page, section }) => page.url + (section.id && `#${section.id}`));
}

describe("what is searched", () => {
  it("is every section of every built page", () => {
    const html = pagesOf(built()).map(([name, content]) => ({
      url: name.replace(/^docs(.*)index\.html$/, "$1"),
      outputPath: name,
      content,
    }));
    expect(PAGES).toEqual(searchedPages(html));
    expect(PAGES.length).toBeGreaterThan(40);
    for (const { url, content } of html) {
      const sections = PAGES.find((page) => `/${page.url}` === url)?.sections ?? [];
      const headings =
        content.match(/<h[123][ >]/g)?.filter((tag) => !tag.includes("on-page")) ?? [];
      const isListed = content.includes('id="on-page"');
      expect(sections.length).toBe(headings.length - (isListed ? 1 : 0));
      for (const { id } of sections.slice(1)) expect(content).toContain(` id="${id}"`);
    }
  });

  it("has headings, text and code apart, line by line", () => {
    const { folder, title, label, sections } = searchedPage(
      page(`<p class="section"><a>Folder</a></p><h1>Title</h1><p>One\n line.</p>
        <ul><li>first</li><li>second</li></ul><table><tr><th>a</th> <th>b</th></tr></table>
        <h2 id="x"><a href="#x"><span>Heading &amp; more</span></a></h2>
        <pre><code><b>$ run \\\n  --option 1</b>\n\nprinted</code></pre>`),
      "a/",
    );
    expect({ folder, title, label }).toEqual({ folder: "Folder", title: "Title", label: "Label" });
    expect(sections).toEqual([
      { id: "", heading: "Title", text: "One line.\nfirst\nsecond\na · b", code: "" },
      { id: "x", heading: "Heading & more", text: "", code: "$ run --option 1\nprinted" },
    ]);
  });

  it("has formulas on one line", () => {
    const text = PAGES.find(({ url }) => url === "concepts/bounds/")?.sections.map(
      ({ text }) => text,
    );
    expect(text?.join("\n")).toContain("Pr[M(D) ∈ S] ≤ e^ε Pr[M(D′) ∈ S] + δ");
    expect(text?.join("\n")).toContain("ε ≥ max{ln (1 − δ − β)/α, ln (1 − δ − α)/β, 0}");
    const sign = "<math><msup><mi>C</mi><mrow><mo>−</mo><mn>1</mn></mrow></msup></math>";
    expect(sectionOf(`<p>${sign}</p>`)?.text).toBe("C^(−1)");
  });

  it("is a page of the template, or the build stops", () => {
    expect(() => searchedPage("<article><h1>T</h1></article>", "a/")).toThrow("a/ is not a page");
    expect(() => searchedPage(page("<p>x</p><h1>T</h1>"), "a/")).toThrow("text before the title");
  });
});

describe("terms", () => {
  it("are the same in every spelling of a name", () => {
    const spellings = ["noise-multiplier", "noise_multiplier", "NoiseMultiplier"];
    for (const spelling of spellings) {
      expect(terms(spelling)).toEqual(["noisemultiplier", "noise", "multiplier"]);
    }
    expect(terms("--noise-multiplier")).toEqual(["--noisemultiplier", ...terms("NoiseMultiplier")]);
    expect(terms("--seed")).toEqual(["--seed", "seed"]);
  });

  it("name Greek letters, and have no accents, plurals or commas", () => {
    expect(terms("ε")).toEqual(terms("epsilon"));
    expect(terms("µ-GDP")).toEqual(terms("mu-GDP"));
    expect(terms("2ε e^εβ")).toEqual(["2", "epsilon", "e", "epsilon", "beta"]);
    expect(terms("Rényi canaries")).toEqual(["renyi", "canary"]);
    expect(terms("10,000 at 3.24.")).toEqual(["10000", "at", "3.24"]);
  });

  it("have their places in the text", () => {
    const text = "at most --max-batch-size of μ-GDP";
    for (const { term, start, end } of termsOf(text)) {
      expect(terms(text.slice(start, end))).toContain(term);
    }
    expect(termsOf(text).filter(({ start }) => start === 8)).toHaveLength(2);
  });
});

describe("the first result", () => {
  it.each([
    ["epsilon", "concepts/bounds/#the-claim-ε-and-δ"],
    ["ε", "concepts/bounds/#the-claim-ε-and-δ"],
    ["delta", "concepts/confidence/"],
    ["δ", "concepts/confidence/"],
    ["mu-GDP", "concepts/one-shot/#other-bounds-on-the-same-canaries"],
    ["μ-GDP", "concepts/one-shot/#other-bounds-on-the-same-canaries"],
    ["random allocation", "concepts/samplers/"],
    ["RandomAllocation", "concepts/samplers/"],
    ["random-allocation", "concepts/samplers/"],
    ["--max-batch-size", "concepts/samplers/"],
    ["max_batch_size", "concepts/samplers/"],
    ["--fail-above", "concepts/verdicts/#exit-codes"],
    ["threat models", "concepts/threat-models/"],
    ["how to read a report", "reports/"],
    ["PATE-GAN", "audits/pategan/"],
    ["one run guarantee", "audits/one-run/#guarantee"],
    ["python", "guides/python/"],
    ["kubernetes", "clusters/#slurm-kubernetes-and-ray"],
    ["exit codes", "concepts/verdicts/#exit-codes"],
    ["canaries", "concepts/one-shot/"],
    ["fedavg", "audits/fedavg/"],
    ["audit scores", "audits/scores/"],
    ["report", "reports/"],
    ["fixed size", "concepts/samplers/"],
    ["CI", "start/engineer/#gate-it-in-ci"],
    ["MNIST", "guides/data-sets/"], // not NIST, which differs by a letter
    ["p-value", "concepts/one-shot/"],
    ["what is δ", "concepts/confidence/"],
    ["what is a canary", "concepts/one-shot/"],
    ["how are batches drawn", "guides/loaders/"],
    ["reading a report", "reports/"], // its name in the contents
    ["the leak", "concepts/bounds/#the-leak"],
    ["shuffle", "concepts/samplers/"],
    ["μ", "findings/pairs-and-half-splits/#the-command"],
    // beginnings of words
    ["confid", "concepts/confidence/"],
    ["--fail-ab", "concepts/verdicts/#exit-codes"],
    ["randomalloc", "concepts/samplers/"],
    // typing errors
    ["epsiln", "concepts/bounds/#the-claim-ε-and-δ"],
    ["detla", "concepts/confidence/"],
    ["random alocation", "concepts/samplers/"],
    ["--max-bach-size", "concepts/samplers/"],
    ["verdcit", "concepts/verdicts/"],
  ])("for %s is %s", (query, address) => {
    expect(addresses(query)[0]).toBe(address);
  });

  it("changes where the best page lacks the words", () => {
    const others = PAGES.filter(({ url }) => url !== "concepts/verdicts/");
    expect(finder(others)("--fail-above")).toEqual([]);
    expect(finder(others)("verdicts").length).toBeGreaterThan(0);
  });
});

describe("results", () => {
  it("are none for words that no page has, and for no words", () => {
    for (const query of ["", "  ", "…", "qqqqzzzz", "--qqqq-option"])
      expect(find(query)).toEqual([]);
  });

  it("have longer words that begin with those of the query", () => {
    const has = (term: string) => find("shuffle").some(({ terms }) => terms.has(term));
    expect([has("shuffle"), has("shuffled")]).toEqual([true, true]);
  });

  it("are those of some of the words where no section has all", () => {
    expect(addresses("verdict qqqqzzzz")).toEqual(addresses("verdict"));
  });

  it("are at most 30, and three of a page", () => {
    const found = find("epsilon");
    const ofOne = (url: string) => found.filter(({ page }) => page.url === url).length;
    expect(found).toHaveLength(30);
    expect(Math.max(...found.map(({ page }) => ofOne(page.url)))).toBe(3);
  });

  it("are counted in words", () => {
    expect(statusOf("", 0)).toBe("");
    expect(statusOf("x", 0)).toBe("No results for “x”");
    expect([1, 2, 30].map((count) => statusOf("x", count))).toEqual([
      "1 result",
      "2 results",
      "Top 30 results",
    ]);
  });

  it.each(EXAMPLES)("are there for %s, which the search suggests", (example) => {
    expect(find(example).length).toBeGreaterThan(0);
  });
});

describe("the passage of a result", () => {
  const passage = (query: string, url: string) => {
    const found = find(query).find(({ page }) => page.url === url);
    if (found === undefined) throw new Error(`${query} is not found in ${url}`);
    const { pieces, isCode } = passageOf(found);
    return { text: shown(pieces), isCode };
  };

  it("is the line that matches, with the words marked", () => {
    expect(passage("--max-batch-size", "concepts/samplers/")).toEqual({
      text: "truncated-poisson · Poisson batches, of which at most [--max-batch-size] records are kept · both sides",
      isCode: false,
    });
    const { text, isCode } = passage("--max-batch-size", "audits/theory/");
    expect(text).toContain("[--max-batch-size] 300");
    expect(isCode).toBe(true);
  });

  it("is cut between words around the matches", () => {
    for (const query of ["epsilon", "canary", "noise multiplier"]) {
      for (const found of find(query)) {
        const { pieces } = passageOf(found);
        const text = pieces.map(({ text }) => text).join("");
        const lines = `${found.section.text}\n${found.section.code}`;
        const isMarked = termsOf(lines).some(({ term }) => found.terms.has(term));
        expect(pieces.some(({ isMatch }) => isMatch)).toBe(isMarked);
        expect(text.length).toBeLessThan(180);
        expect(` ${lines.replace(/\n/g, " ")} `).toContain(` ${text.replace(/^…\s|\s…$/g, "")} `);
      }
    }
  });

  it("is the beginning of a section of which only the heading matches", () => {
    const found = { terms: new Set(["title"]), page: PAGES[0] as SearchedPage };
    const section = { id: "", heading: "Title", text: "First.\nSecond.", code: "" };
    expect(shown(passageOf({ ...found, section }).pieces)).toBe("First.");
    expect(shown(marked("A title", found.terms))).toBe("A [title]");
  });
});
