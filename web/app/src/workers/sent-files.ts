/** Canaries that the page has optimised. */
export interface SentCanaries {
  /** A file of the program. */
  file: Uint8Array;
  count: number;
  /** Differs between optimisations. */
  id: string;
}

interface SentFile {
  name: string;
  bytes: Uint8Array;
}

/** The reader's data set, as a page sends it to workers, and canaries. */
export interface SentFiles {
  data?: SentFile | undefined;
  labels?: SentFile | undefined;
  canaries?: SentCanaries | undefined;
}

/** A command of the program, with the files that its words name. */
export interface SentCommand {
  words: string[];
  names: string[];
  contents: Uint8Array[];
}

/** The constructor of the command of a bundle. */
export type CommandOf<C> = new (words: string[], names: string[], contents: Uint8Array[]) => C;

/** The command for a bundle. */
export function received<C>(Command: CommandOf<C>, { words, names, contents }: SentCommand): C {
  return new Command(words, names, contents);
}
