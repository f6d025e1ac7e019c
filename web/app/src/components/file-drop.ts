import { html, nothing, type TemplateResult } from "lit/html.js";
import type { DroppedFile } from "../files/dropped";

interface Drop {
  id: string;
  label: string;
  hint: string;
  add(files: Iterable<File>): void;
}

interface ListedDrop<R extends string> extends Drop {
  files: readonly DroppedFile<R>[];
  remove(file: DroppedFile<R>): void;
  /** What a file contains, where a reader may say so; its role by default. */
  about?(file: DroppedFile<R>): unknown;
}

/** Where files are dropped or chosen, above what is said of those that were. */
export function dropArea({ id, label, hint, add }: Drop, chosen: TemplateResult): TemplateResult {
  return html`<div
    class="drop"
    @dragover=${(event: DragEvent) => event.preventDefault()}
    @drop=${(event: DragEvent) => {
      event.preventDefault();
      add(event.dataTransfer?.files ?? []);
    }}
  >
    <label for=${id}>${label}</label>
    <input
      id=${id}
      type="file"
      multiple
      aria-describedby="${id}-hint"
      @change=${(event: Event) => {
        const input = event.target as HTMLInputElement;
        const files = [...(input.files ?? [])];
        input.value = "";
        if (files.length > 0) add(files);
      }}
    />
    <p class="hint" id="${id}-hint">${hint}</p>
    ${chosen}
  </div>`;
}

/** A drop area with a list of the files, each of which can be removed. */
export function fileDrop<R extends string>(drop: ListedDrop<R>): TemplateResult {
  const { files, remove, about = ({ role }) => html`<span class="hint">${role}</span>` } = drop;
  const list = html`<ul class="file-list" aria-live="polite">
      ${files.map(
        (file) =>
          html`<li>
            <span class="file-name">${file.name}</span>
            ${about(file)}
            ${file.refused === undefined ? nothing : html`<span class="refused">${file.refused}</span>`}
            <button
              type="button"
              class="quiet"
              aria-label="Remove ${file.name}"
              @click=${() => remove(file)}
            >
              Remove
            </button>
          </li>`,
      )}
    </ul>`;
  return html`<div class="run-files">${dropArea(drop, list)}</div>`;
}
