/** The comparison of Explore as an anywidget, for notebooks: settings and values are traits of the model. */

import type { Model } from "../../../calculators/src/widget";
import type { State } from "../state/fields";
import { spawn } from "./bundles";
import { SETTINGS, type Settings } from "./fields";
import { type Answer, NotebookPage } from "./page";
import { style } from "./style";
import { followTheme } from "./theme";

/** The settings of a model; Python's None is an empty field. */
function settingsIn(model: Pick<Model, "get">): Partial<State> {
  const settings = SETTINGS.map((name) => [name, model.get(name) ?? undefined]);
  return Object.fromEntries(settings) as Settings;
}

/** Writes values with the settings that they are of. */
export function save(model: Model, { settings, ...answers }: Answer): void {
  const traits = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value ?? null]),
  );
  for (const [trait, value] of Object.entries({ ...traits, ...answers, _answered: traits }))
    model.set(trait, value);
  model.save_changes();
}

/** Passes on what changed in Python; returns what ends this. */
export function follow(model: Model, page: Pick<NotebookPage, "state" | "change">): () => void {
  const take = () => {
    const changed = Object.entries(settingsIn(model)).filter(
      ([name, value]) => page.state[name as keyof Settings] !== value,
    );
    if (changed.length > 0) page.change(Object.fromEntries(changed) as Partial<State>);
  };
  const events = SETTINGS.map((name) => `change:${name}`);
  for (const event of events) model.on(event, take);
  return () => {
    for (const event of events) model.off(event, take);
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = document.createElement("dpscope-explore");
  host.dataset.lmSuppressShortcuts = "true"; // keys belong to the fields, not to the notebook
  host.addEventListener("keydown", (event) => event.stopPropagation());
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  shadow.adoptedStyleSheets = [sheet];
  const root = document.createElement("div");
  root.className = "notebook";
  shadow.append(root);
  el.append(host);
  const page = new NotebookPage(root, settingsIn(model), spawn, (answer) => save(model, answer));
  const ends = [follow(model, page), followTheme(host), () => page.close()];
  return () => {
    for (const end of ends) end();
    host.remove();
  };
}

export default { render };
