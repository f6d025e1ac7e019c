import type { App } from "./app";
import { layoutOf } from "./layout";
import { storedConclusion, storedLines, storedSweep, storedVersion } from "./numbers/stored";
import { initialState } from "./state/fields";
import { formatHash } from "./state/hash";
import { shell } from "./views/shell";

const nothingYet = () => undefined;

/** The page before anything is computed: the default view with its stored results. */
export function firstView(): unknown {
  const state = initialState();
  const app = {
    store: { messages: [], hash: formatHash(state) },
    state,
    theory: {
      lines: storedLines(),
      conclusion: storedConclusion(),
      isStale: false,
      isRefining: false,
    },
    sweep: { sweep: storedSweep(), isStale: false },
    audit: {
      run: undefined,
      state: undefined,
      hasGpu: undefined,
      cores: 1,
      start: nothingYet,
      backendOf: nothingYet,
      secondsOf: nothingYet,
    },
    comparison: { curves: [], conclusion: undefined },
    statement: { format: "markdown", show: nothingYet },
    refused: new Map(),
    layout: layoutOf(1440),
    version: storedVersion,
    toast: "",
    spoken: "",
  };
  return shell(app as unknown as App);
}
