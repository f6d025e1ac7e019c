import { type Received, type Receiver, received, type SentFiles } from "./sent-files";

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
interface Bundle<D extends Received, C extends OnCpu, G extends OnGpu> {
  cpu(layout: Uint8Array, files: D | undefined): C;
  gpu(layout: Uint8Array, files: D | undefined, software: boolean): Promise<G>;
}

/** What a worker trains, on the CPU or on a GPU, and the calls that every protocol has. */
export class Trainer<D extends Received, C extends OnCpu, G extends OnGpu> {
  readonly #DataFiles: Receiver<D>;
  readonly #bundle: Bundle<D, C, G>;
  #layout = new Uint8Array();
  #files: SentFiles | undefined;
  #cpu: C | undefined;
  #gpu: G | undefined;
  /** Ends after the last call of the GPU. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(DataFiles: Receiver<D>, bundle: Bundle<NoInfer<D>, C, G>) {
    this.#DataFiles = DataFiles;
    this.#bundle = bundle;
  }

  get cpu(): C {
    this.#cpu ??= this.#bundle.cpu(this.#layout, this.received(this.#files));
    return this.#cpu;
  }

  received(files: SentFiles | undefined): D | undefined {
    return received(this.#DataFiles, files);
  }

  readonly api = {
    /** What all ranges have in common. */
    prepare: (shared: Uint8Array<ArrayBuffer>, files?: SentFiles): void => {
      [this.#layout, this.#files] = [shared, files];
    },
    open_gpu: async (_mode: "exact" | "fast", software: boolean): Promise<string> => {
      const gpu = await this.#bundle.gpu(this.#layout, this.received(this.#files), software);
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
