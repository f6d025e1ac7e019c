import { rounded } from "../../../numbers/rounded";
import type { App } from "../app";
import { toCsv } from "../charts/data-table";
import type { CopyItem } from "../components/copies";
import { accountedOf, type LineName, linesOf } from "../numbers/lines";
import { mainLine, statement } from "../numbers/statement";
import { drawsSubsets } from "../state/samplers";
import { adjacencyOf, settingOf, truncationOf } from "../theory/setting";
import { sweepTable } from "../views/explore/sweep-chart";
import { tableOf } from "../views/explore/table";
import { bibtex } from "./bibtex";
import { boundCommand, compareCommand } from "./command";
import { linkOf } from "./link";
import { standaloneSvg } from "./svg";

/** The results of Explore that can be copied. */
export function exploreCopies(app: App): CopyItem[] {
  return [
    { name: "number", text: () => numberText(app) },
    { name: "JSON", text: () => jsonText(app) },
    {
      name: "CSV of the numbers",
      text: () => (app.theory.isStale ? undefined : toCsv(tableOf(app))),
    },
    {
      name: "CSV of the curves",
      text: () => (app.sweep.sweep === undefined ? undefined : toCsv(sweepTable(app.sweep.sweep))),
    },
    { name: "SVG of the curves", text: () => standaloneSvg("sweep") },
    { name: "link", text: () => linkOf(app) },
    { name: "BibTeX", text: () => bibtex(app.version, linkOf(app)) },
    { name: "command", text: () => boundCommand(app.state, mainLineOf(app)) },
    ...(drawsSubsets(app.state.sampler)
      ? []
      : [{ name: "command of every sampler", text: () => compareCommand(app.state) }]),
  ];
}

function mainLineOf(app: App): LineName {
  return mainLine(statement(app.theory));
}

function numberText(app: App): string | undefined {
  if (app.theory.isStale) return undefined;
  const value = accountedOf(app.theory.lines, mainLineOf(app));
  return value === undefined ? undefined : rounded(value.epsilon, value.kind, 4);
}

/** Rows as in `dpscope compare --json`. */
function jsonText(app: App): string | undefined {
  if (app.theory.isStale) return undefined; // lines of the setting before
  const names = linesOf(app.state.sampler);
  const rows = names.flatMap((name) => {
    const found = app.theory.lines[name];
    if (found === undefined || "reason" in found) return [];
    const { value, observations } = found;
    const drawn = observations === undefined ? {} : { observations };
    return [{ what: name.replaceAll("-", "_"), ...value, ...drawn }];
  });
  const { delta, significance, seed, sampler } = app.state;
  const all = {
    version: app.version,
    ...settingOf(app.state),
    adjacency: adjacencyOf(app.state),
    ...truncationOf(app.state),
    sampler,
    delta,
    significance,
    seed,
    rows,
  };
  return JSON.stringify(all, null, 2);
}
