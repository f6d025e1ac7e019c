import type { Answer, Question, WorkerLike } from "./calls";

/** A worker of a test: it answers when told to. */
export class FakeWorker implements WorkerLike {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;
  isEnded = false;
  readonly asked: Question[] = [];
  readonly #answer: ((question: Question) => unknown) | undefined;

  /** With `answer`, it answers at once what that returns or throws; `undefined` is no answer. */
  constructor(answer?: (question: Question) => unknown) {
    this.#answer = answer;
  }

  postMessage(message: unknown): void {
    const question = message as Question;
    this.asked.push(question);
    if (this.#answer === undefined) return;
    queueMicrotask(() => {
      try {
        const value = this.#answer?.(question);
        if (value !== NO_ANSWER) this.tell({ id: question.id, value });
      } catch (failure) {
        this.tell({ id: question.id, failure: failure as never });
      }
    });
  }

  tell(answer: Answer): void {
    if (!this.isEnded) this.onmessage?.({ data: answer } as MessageEvent);
  }

  crash(message: string): void {
    this.onerror?.({ message } as ErrorEvent);
  }

  terminate(): void {
    this.isEnded = true;
  }
}

export const NO_ANSWER = Symbol("no answer");
