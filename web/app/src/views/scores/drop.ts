import type { FileFacts } from "@dpscope/wasm/files";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import type { World } from "../../scores/session";

const TYPES = ".npy,.npz,.csv,.safetensors";

/** A place for one file: choose it, or drop it. */
export function drop(app: App, world: World, label: string): TemplateResult {
  const file = app.scores.files[world];
  const id = `file-${world}`;
  const add = (list: FileList | null | undefined) => {
    const chosen = list?.[0];
    if (chosen !== undefined) void app.scores.add(world, chosen);
  };
  return html`<div
    class="drop"
    @dragover=${(event: DragEvent) => event.preventDefault()}
    @drop=${(event: DragEvent) => {
      event.preventDefault();
      add(event.dataTransfer?.files);
    }}
  >
    <label for=${id}>${label}</label>
    <input
      id=${id}
      type="file"
      accept=${TYPES}
      aria-describedby="${id}-hint"
      @change=${(event: Event) => {
        const input = event.target as HTMLInputElement;
        add(input.files);
        input.value = "";
      }}
    />
    <div id="${id}-hint" aria-live="polite">
      ${
        file === undefined
          ? html`<p class="hint">Choose a file, or drop it here.</p>`
          : html`<p class="file-name">${file.name}</p>
              ${file.failure === undefined ? nothing : html`<p class="refused">${file.failure}</p>`}
              ${file.about === undefined ? nothing : about(file.about)}
              <button type="button" class="quiet" @click=${() => app.scores.remove(world)}>
                Remove
              </button>`
      }
    </div>
  </div>`;
}

function about(facts: FileFacts): TemplateResult {
  const shown = facts.arrays.slice(0, 6);
  return html`<ul class="arrays">
    ${shown.map(
      ({ name, dtype, shape }) =>
        html`<li>${name === "" ? facts.format : name}: ${dtype}, ${shape}</li>`,
    )}
    ${facts.arrays.length > 6 ? html`<li>and ${facts.arrays.length - 6} more</li>` : nothing}
  </ul>`;
}
