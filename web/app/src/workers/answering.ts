import { type Answer, asFailure, notLoaded, type Question } from "./calls";

type Call = (...args: never[]) => unknown;

/** Makes a worker answer questions with these calls: in order, except for those that wait. */
export function answering(ready: Promise<unknown>, calls: Record<string, Call>): void {
  self.onmessage = (event: MessageEvent<Question>) => {
    const { id, call } = event.data;
    ready.then(
      () => answer(id, calls[call.name], call.args),
      (thrown) => self.postMessage({ id, failure: notLoaded(thrown) }),
    );
  };
}

async function answer(id: number, call: Call | undefined, args: readonly unknown[]): Promise<void> {
  let told: Answer;
  try {
    if (call === undefined) throw new Error("no such call");
    told = { id, value: await call(...(args as never[])) };
  } catch (thrown) {
    told = { id, failure: asFailure(thrown) };
  }
  self.postMessage(told);
}
