import { consistent, type State } from "./fields";
import { formatHash, parseHash } from "./hash";

type Listener = (state: State, before: State) => void;

/** The state, and who listens to its changes. */
export class Store {
  #state: State;
  #listeners: Listener[] = [];
  messages: string[];

  constructor(hash: string) {
    const parsed = parseHash(hash);
    this.#state = parsed.state;
    this.messages = parsed.messages;
  }

  get state(): State {
    return this.#state;
  }

  get hash(): string {
    return formatHash(this.#state);
  }

  change(part: Partial<State>): void {
    // steps that are entered replace those of a dataset
    const entered = {
      ...("steps" in part ? { dataset_size: undefined } : {}),
      ...("see_steps" in part ? { see_dataset: undefined } : {}),
      ...part,
    };
    this.#set(consistent({ ...this.#state, ...entered }));
  }

  /** A link was followed. */
  follow(hash: string): void {
    const parsed = parseHash(hash);
    this.messages = parsed.messages;
    this.#set(parsed.state);
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #set(state: State): void {
    const before = this.#state;
    this.#state = state;
    for (const listener of this.#listeners) listener(state, before);
  }
}
