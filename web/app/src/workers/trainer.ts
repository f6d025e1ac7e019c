import { type CommandOf, received, type SentCommand } from "./sent-files";

/** What trains on the CPU. */
interface OnCpu {
  count(first: number, end: number): Uint8Array;
}

/** What trains on a GPU, one call at a time. */
interface OnGpu {
  readonly name: string;
  count(first: number, end: number): Promise<Uint8Array>;
  /** For tests: loses the GPU for good. */
  lose_device(): void;
}

/** How a bundle opens them. */
interface Bundle<D, C extends OnCpu, G extends OnGpu> {
  cpu(layout: Uint8Array, command: D): C;
  gpu(layout: Uint8Array, command: D, software: boolean): Promise<G>;
}

/** What a worker trains, on the CPU or on a GPU, and the calls that every protocol has. */
export class Trainer<D, C extends OnCpu, G extends OnGpu> {
  readonly #Command: CommandOf<D>;
  readonly #bundle: Bundle<D, C, G>;
  #layout = new Uint8Array();
  #command: SentCommand | undefined;
  #cpu: C | undefined;
  #gpu: G | undefined;
  /** Ends after the last call of the GPU. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(Command: CommandOf<D>, bundle: Bundle<NoInfer<D>, C, G>) {
    this.#Command = Command;
    this.#bundle = bundle;
  }

  get cpu(): C {
    this.#cpu ??= this.#bundle.cpu(this.#layout, this.#received);
    return this.#cpu;
  }

  get #received(): D {
    if (this.#command === undefined) throw new Error("nothing was prepared");
    return received(this.#Command, this.#command);
  }

  readonly api = {
    /** What all ranges have in common. */
    prepare: (shared: Uint8Array<ArrayBuffer>, command: SentCommand): void => {
      [this.#layout, this.#command] = [shared, command];
    },
    open_gpu: async (_mode: "exact" | "fast", software: boolean): Promise<string> => {
      const gpu = await this.#bundle.gpu(this.#layout, this.#received, software);
      this.#gpu = gpu;
      return gpu.name;
    },
    lose_gpu: (): void => this.#gpu?.lose_device(),
    count: (first: number, end: number): Uint8Array | Promise<Uint8Array> => {
      const gpu = this.#gpu;
      if (gpu === undefined) return this.cpu.count(first, end);
      const counted = this.#last.then(() => gpu.count(first, end));
      this.#last = counted.catch(() => undefined);
      return counted;
    },
  };
}
