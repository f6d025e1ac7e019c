import { html, type TemplateResult } from "lit/html.js";
import type { DroppedFile } from "../files/dropped";

interface Drop<R extends string> {
  id: string;
  label: string;
  hint: string;
  files: readonly DroppedFile<R>[];
  add(files: Iterable<File>): void;
  remove(file: DroppedFile<R>): void;
}

/** Where files are dropped or chosen, above those that were. */
export function fileDrop<R extends string>(drop: Drop<R>): TemplateResult {
  const { id, label, hint, files, add, remove } = drop;
  return html`<div
    class="drop run-files"
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
        add(input.files ?? []);
        input.value = "";
      }}
    />
    <p class="hint" id="${id}-hint">${hint}</p>
    <ul class="file-list" aria-live="polite">
      ${files.map(
        (file) =>
          html`<li>
            <span class="file-name">${file.name}</span>
            <span class=${file.refused === undefined ? "hint" : "refused"}
              >${file.refused ?? file.role}</span
            >
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
    </ul>
  </div>`;
}
