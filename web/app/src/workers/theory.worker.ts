import init, * as bundle from "@dpscope/wasm/calculators";
import { answering } from "./answering";

answering(init(), {
  bound: bundle.bound,
  bound_columns: bundle.bound_columns,
  pair: bundle.pair,
  counts: bundle.counts,
  check: bundle.check,
  curve: bundle.curve,
  epoch: bundle.epoch,
  scores: bundle.scores,
});
