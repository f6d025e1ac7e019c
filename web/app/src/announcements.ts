/** Time without a change after which a result is announced. */
const QUIET_MS = 1000;

/** Announces a result to screen readers once it has stopped changing, and only where it is new. */
export class Announcements {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #newest = "";
  #spoken = "";
  readonly #speak: (words: string) => void;

  constructor(speak: (words: string) => void) {
    this.#speak = speak;
  }

  /** The result on screen; empty while it is being computed. */
  hear(words: string): void {
    if (words === this.#newest) return;
    this.#newest = words;
    clearTimeout(this.#timer);
    if (words === "" || words === this.#spoken) return;
    this.#timer = setTimeout(() => {
      this.#spoken = words;
      this.#speak(words);
    }, QUIET_MS);
  }
}
