/** Audits what the runs of a generator released. */

import init, {
  audit_features,
  type GeneratorOptions,
  GeneratorRuns,
  score_canaries,
} from "@dpscope/wasm/synth";
import { serve } from "../../../protocol/protocol";

export type World = "with" | "without";

let runs: GeneratorRuns | undefined;

function open(): GeneratorRuns {
  if (runs === undefined) throw new Error("no manifest was read");
  return runs;
}

const api = {
  open: (name: string, manifest: Uint8Array) => {
    runs?.free();
    runs = GeneratorRuns.open(name, manifest);
  },
  add: (world: World, names: readonly string[], contents: readonly Uint8Array[]) => {
    for (const [at, name] of names.entries()) {
      open().add(world, name, contents[at] ?? new Uint8Array());
    }
  },
  report: (elapsed_ms: number) => {
    const whole = open();
    runs = undefined; // the report consumes it
    return whole.report(elapsed_ms);
  },
  audit_features: (names: string[], contents: Uint8Array[], options: GeneratorOptions) =>
    audit_features(names, contents, options),
  score_canaries,
};
export type GeneratorApi = typeof api;

serve(init(), api);
