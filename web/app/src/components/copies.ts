import { html, type TemplateResult } from "lit/html.js";
import type { App } from "../app";

/** One way to copy a result. */
export interface CopyItem {
  name: string;
  /** The text to copy. */
  text(): string | undefined;
}

/** A menu of texts to copy. */
export function copies(app: App, id: string, items: readonly CopyItem[]): TemplateResult {
  return html`<button type="button" class="quiet" popovertarget=${id} aria-haspopup="menu">
      Copy as …</button
    ><div id=${id} class="popover menu" popover role="menu" aria-label="Copy as">
      ${items.map(
        (item) =>
          html`<button type="button" role="menuitem" @click=${() => void copy(app, id, item)}>
            ${item.name}
          </button>`,
      )}
    </div>`;
}

/** A command with a button that copies it. */
export function copyLine(app: App, text: string, label = "Copy command"): TemplateResult {
  return html`<div class="command">
    <code tabindex="0">${text.split(" ").map((word) => html`<span>${word}</span> `)}</code>
    <button
      type="button"
      class="quiet"
      aria-label=${label}
      @click=${() => void copyText(app, "command", text)}
    >
      Copy
    </button>
  </div>`;
}

async function copy(app: App, id: string, item: CopyItem): Promise<void> {
  document.getElementById(id)?.hidePopover();
  const text = item.text();
  if (text === undefined) app.announce(`There is no ${item.name} yet.`);
  else await copyText(app, item.name, text);
}

export async function copyText(app: App, name: string, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    app.announce(
      text.startsWith("#v=")
        ? "Copied: the settings. This page’s address opens on this machine only; add them to another."
        : `Copied: ${name}.`,
    );
  } catch {
    app.announce("The browser did not allow copying. Select the text and copy it manually.");
  }
}
