import init, * as bundle from "@dpscope/wasm/calculators";
import { type Answer, asFailure, type Question } from "./calls";

const CALLS: Record<string, (...args: never[]) => unknown> = {
  version: bundle.version,
  bound: bundle.bound,
  bound_columns: bundle.bound_columns,
  pair: bundle.pair,
  counts: bundle.counts,
  plan: bundle.plan,
  check: bundle.check,
  curve: bundle.curve,
  epoch: bundle.epoch,
  scores: bundle.scores,
};

const ready = init();

self.onmessage = async (event: MessageEvent<Question>) => {
  const { id, call } = event.data;
  let answer: Answer;
  try {
    await ready;
    const asked = CALLS[call.name];
    if (asked === undefined) throw new Error(`no such call: ${call.name}`);
    answer = { id, value: asked(...(call.args as never[])) };
  } catch (thrown) {
    answer = { id, failure: asFailure(thrown) };
  }
  self.postMessage(answer);
};
