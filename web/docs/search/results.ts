/** The results of the search: a list that the field controls. */

import { html, nothing, render, type TemplateResult } from "lit/html.js";
import type { SearchedPage } from "../build/sections.js";
import { type Find, type Found, finder, MOST } from "./find";
import { marked, type Passage, type Piece, passageOf } from "./passage";

/** Queries for readers who do not know what to search for. */
export const EXAMPLES = ["epsilon", "balls in bins", "exit code", "--fail-above"];

/** The root of the documentation, where the built scripts are too. */
const ROOT = import.meta.url.replace(/[^/]*$/, "");

interface Shown extends Found {
  passage: Passage;
}

/** Makes the field work: loads what is searched, and shows what is found while the reader types. */
export async function start(
  dialog: HTMLDialogElement,
  input: HTMLInputElement,
  status: HTMLElement,
): Promise<void> {
  const response = await fetch(new URL("search.json", ROOT));
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  const results = new Results(dialog, input, status, finder(await response.json()));
  input.addEventListener("input", () => results.search());
  input.addEventListener("keydown", (event) => results.press(event));
  results.search();
}

class Results {
  private found: Shown[] = [];
  private active = 0;
  private readonly list: HTMLElement;
  private readonly more: HTMLElement;

  constructor(
    private readonly dialog: HTMLDialogElement,
    private readonly input: HTMLInputElement,
    private readonly status: HTMLElement,
    private readonly find: Find,
  ) {
    const part = (id: string) => {
      const element = dialog.querySelector<HTMLElement>(`#${id}`);
      if (element === null) throw new Error(`the search has no #${id}`);
      return element;
    };
    this.list = part("search-found");
    this.more = part("search-more");
  }

  search(): void {
    const query = this.input.value.trim();
    this.found = this.find(query).map((found) => ({ ...found, passage: passageOf(found) }));
    this.active = 0;
    this.status.textContent = statusOf(query, this.found.length);
    render(this.found.length === 0 ? this.suggestions(query) : nothing, this.more);
    this.show();
    this.list.scrollTop = 0;
  }

  press(event: KeyboardEvent): void {
    if (event.isComposing || this.found.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.active = (this.active + step + this.found.length) % this.found.length;
      this.show();
      this.option()?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      const { ctrlKey, metaKey, shiftKey } = event;
      this.option()?.dispatchEvent(
        new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
      );
    }
  }

  private option(): HTMLElement | null {
    return this.list.querySelector("[aria-selected=true]");
  }

  private show(): void {
    const hasResults = this.found.length > 0;
    render(
      this.found.map((found, index) => this.result(found, index)),
      this.list,
    );
    this.list.hidden = !hasResults;
    this.input.setAttribute("aria-expanded", String(hasResults));
    if (hasResults) this.input.setAttribute("aria-activedescendant", `search-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private result({ page, section, terms, passage }: Shown, index: number): TemplateResult {
    const trail = [page.folder, ...(section.id === "" ? [] : [page.title])].filter(Boolean);
    return html`<a
      role="option"
      id="search-${index}"
      tabindex="-1"
      aria-selected=${index === this.active}
      href=${addressOf(page, section.id)}
      @click=${(event: MouseEvent) => this.leave(event)}
      @pointermove=${() => this.select(index)}
    >
      <span class="found-title">${inPieces(marked(section.heading, terms))}</span>
      <span class="found-trail">${inPieces(marked(trail.join(" › "), terms))}</span>
      <span class="found-passage ${passage.isCode ? "found-code" : ""}"
        >${inPieces(passage.pieces)}</span
      >
    </a>`;
  }

  private select(index: number): void {
    if (index === this.active) return;
    this.active = index;
    this.show();
  }

  /** A result on the same page is behind the dialog. */
  private leave(event: MouseEvent): void {
    if (!(event.ctrlKey || event.metaKey || event.shiftKey)) this.dialog.close();
  }

  private suggestions(query: string): TemplateResult {
    const example = (text: string) => html`<button
      type="button"
      class="quiet"
      @click=${() => {
        this.input.value = text;
        this.input.focus();
        this.search();
      }}
    >
      ${text}
    </button>`;
    const advice = html`<p class="hint">Check the spelling, or use fewer or more general words.</p>`;
    return html`${query === "" ? nothing : advice}
      <p class="hint">Try ${EXAMPLES.map(example)}</p>`;
  }
}

/** The address of a section, wherever the site is. */
function addressOf({ url }: SearchedPage, id: string): string {
  return new URL(id === "" ? url : `${url}#${id}`, ROOT).href;
}

export function statusOf(query: string, count: number): string {
  if (query === "") return "";
  if (count === 0) return `No results for “${query}”`;
  if (count === MOST) return `Top ${MOST} results`;
  return count === 1 ? "1 result" : `${count} results`;
}

function inPieces(pieces: Piece[]): (string | TemplateResult)[] {
  return pieces.map(({ text, isMatch }) => (isMatch ? html`<mark>${text}</mark>` : text));
}
