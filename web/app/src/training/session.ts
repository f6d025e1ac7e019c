import { Client, type WorkerLike } from "../../../protocol/protocol";
import { AuditRun } from "../audit/run";
import type { Subject } from "../audit/subject";
import type { DataNames } from "../copies/trained";
import type { DroppedFiles } from "../files/dropped";
import type { State } from "../state/fields";
import { accountedTraining } from "../theory/setting";
import { workersOf } from "../workers/cores";
import type { SentCanaries, SentCommand, SentFiles } from "../workers/sent-files";
import type { TheoryApi } from "../workers/theory";
import { refusalOf, sentCommand } from "./command";
import type { DataRole } from "./files";
import type { CanaryOptimisation } from "./optimisation";
import type { Accountants, Kind, Protocol, TrainerApi, TrainerCountApi } from "./protocols";
import { type Saved, SavedWork, type Storage } from "./saved";

/** A training takes longer than a simulated observation: a range is one training at first. */
const PACE = {
  range_ms: { cpu: 150, gpu: 1000 },
  first: { cpu: 1, gpu: 32 },
  fewest: 1,
  patience_ms: 180_000,
  patience_at_work_ms: 120_000,
};
const SAVE_MS = 3000;
/** Settings are often changed in a row. */
const PATIENCE_MS = 250;

/** What sessions of all protocols share. */
export interface Surroundings {
  theory(): WorkerLike;
  cores: number;
  storage: Storage;
  version: string;
  files: DroppedFiles<DataRole>;
  /** Canaries that were optimised in the page. */
  optimisation: Pick<CanaryOptimisation, "canaries">;
  /** Two audits at a time would share the cores. */
  pauseAll(): void;
  changed(): void;
}

/** What trains. */
type Devices = Pick<State, "device" | "float_mode" | "workers">;

/** One training as it is watched. */
export interface Watched<K extends Kind> {
  run: number;
  shown: K["watched"];
}

/** Workers that have loaded their program before they are needed. */
class WarmWorkers {
  readonly #spawn: () => WorkerLike;
  #waiting: WorkerLike[] = [];

  constructor(spawn: () => WorkerLike) {
    this.#spawn = spawn;
  }

  /** Loads as many as are needed, and ends those that are no longer needed. */
  fill(most: number): void {
    for (const worker of this.#waiting.splice(most)) worker.terminate();
    while (this.#waiting.length < most) {
      const worker = this.#spawn();
      // a worker that failed to load cannot be used later
      worker.onerror = () => {
        this.#waiting = this.#waiting.filter((other) => other !== worker);
      };
      this.#waiting.push(worker);
    }
  }

  readonly take = (): WorkerLike => this.#waiting.pop() ?? this.#spawn();
}

/** The trainings of a protocol: their audit, one run to watch, and what the settings stand for. */
export class TrainingSession<K extends Kind> {
  readonly protocol: Protocol<K>;
  run: AuditRun<K["question"], K["found"], K["answer"]> | undefined;
  /** What the run was started with. */
  asked: K["question"] | undefined;
  /** ε that is claimed for it. */
  claim: number | undefined;
  watched: Watched<K> | undefined;
  /** What the settings stand for, or why they cannot be trained. */
  overview: K["overview"] | undefined;
  refused: string | undefined;
  /** An audit of an earlier visit. */
  saved: Saved<K["question"]> | undefined;
  /** Why runs are not saved. */
  unsaved: string | undefined;
  /** Whether Start waits for the check of the settings. */
  isStarting = false;
  readonly #around: Surroundings;
  readonly #counters: WarmWorkers;
  readonly #coordinators: WarmWorkers;
  readonly #storage: SavedWork<Saved<K["question"]>>;
  #theory: Client<TheoryApi> | undefined;
  #looker: Client<TrainerCountApi<K>> | undefined;
  #watcher: Client<TrainerCountApi<K>> | undefined;
  #key = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the counts were last kept, and how many there were. */
  #kept = { at: Number.NEGATIVE_INFINITY, done: 0 };
  #data: SentFiles | undefined;
  /** The check of settings that runs, or the last one that is over. */
  #check: { key: string; over: Promise<void> } | undefined;
  /** The settings that `overview` or `refused` is of. */
  #checked: string | undefined;

  constructor(protocol: Protocol<K>, around: Surroundings) {
    this.protocol = protocol;
    this.#around = around;
    this.#counters = new WarmWorkers(protocol.counter);
    this.#coordinators = new WarmWorkers(protocol.coordinator);
    this.#storage = new SavedWork(around.storage, protocol.storage);
    void this.#storage.load(around.version).then((saved) => {
      if (saved === undefined || this.run !== undefined) return;
      this.saved = saved;
      around.changed();
    });
  }

  /** Checks what the settings stand for, soon. */
  show(state: State): void {
    const key = this.#keyOf(state);
    if (key === this.#key) return;
    this.#key = key;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#checkNow(state), PATIENCE_MS);
  }

  /** Whether the settings on screen can be trained, which may still be found out. */
  async accepts(current: () => State): Promise<boolean> {
    for (;;) {
      const state = current();
      this.#key = this.#keyOf(state);
      if (this.#checked === this.#key) return this.refused === undefined;
      clearTimeout(this.#timer);
      await this.#checkNow(state);
    }
  }

  /** Equal for settings that are accepted alike; the seed does not matter. */
  #keyOf(state: State): string {
    const asked = this.protocol.questionOf({ ...state, seed: "" });
    const files = this.#around.files.list.map(({ name, bytes }) => [name, bytes.length]);
    return JSON.stringify([asked, files, this.#canariesFor(asked)?.id]);
  }

  /** Whether the run on screen is of other settings. */
  isStale(state: State): boolean {
    const { asked } = this;
    const now = () => JSON.stringify(this.protocol.questionOf(state));
    if (asked === undefined) return false;
    // an audit that continues after a reload may have canaries that the page has no more
    const canaries = this.#canariesFor(asked)?.id ?? this.#data?.canaries?.id;
    return JSON.stringify(asked) !== now() || canaries !== this.#data?.canaries?.id;
  }

  get answer(): K["answer"] | undefined {
    return this.run?.answer;
  }

  /** The reader's data set, if the page has it. */
  get data(): SentFiles | undefined {
    const { usable } = this.#around.files;
    const file = (role: DataRole) => usable.find((file) => file.role === role);
    const [data, labels] = [file("data"), file("labels")];
    if (data === undefined) return undefined;
    return { data: sent(data), labels: labels === undefined ? undefined : sent(labels) };
  }

  /** Canaries that were optimised in the page, where the audit takes them. */
  #canariesFor(asked: K["question"]): SentCanaries | undefined {
    const isTaken = this.protocol.takesCanaries?.(asked) === true;
    return isTaken ? this.#around.optimisation.canaries : undefined;
  }

  /** What workers run. */
  #command(asked: K["question"], files: SentFiles | undefined): SentCommand {
    return sentCommand(this.protocol.wordsOf(asked, namesOf(files)), files);
  }

  /** The reader's files, with the canaries that the audit takes. */
  #sent(asked: K["question"]): SentFiles | undefined {
    const canaries = this.#canariesFor(asked);
    return canaries === undefined ? this.data : { ...this.data, canaries };
  }

  /** Names of the files of the run on screen. */
  get names(): DataNames {
    return namesOf(this.#data);
  }

  /** Optimised canaries of the run on screen, as a file of the program. */
  get canaryFile(): Uint8Array | undefined {
    return this.#data?.canaries?.file;
  }

  start(state: State): void {
    const asked = this.protocol.questionOf(state);
    this.#begin(asked, this.#sent(asked), state, undefined);
  }

  /** Continues the audit of an earlier visit. */
  resume(devices: Devices): void {
    const { saved } = this;
    if (saved === undefined) return;
    this.#begin(saved.asked, saved.files, devices, saved.state);
  }

  /** Continues the run on screen after a pause. */
  unpause(): void {
    this.#around.pauseAll();
    this.run?.resume();
  }

  /** Forgets the audit of an earlier visit. */
  forget(): void {
    this.saved = undefined;
    void this.#storage.clear();
    this.#around.changed();
  }

  /** Trains one run, the same as in the audit, to be watched. */
  async watch(run: number): Promise<void> {
    const client = this.#watcher;
    if (client === undefined) return;
    try {
      const shown = (await client.request("watch", [run])) as K["watched"];
      if (client === this.#watcher) this.watched = { run, shown };
    } catch {
      // closed by the next audit, or by a page without memory for it: nothing to watch
    }
    this.#around.changed();
  }

  #begin(
    asked: K["question"],
    data: SentFiles | undefined,
    devices: Devices,
    state: Uint8Array | undefined,
  ): void {
    this.run?.cancel();
    this.#around.pauseAll();
    this.#watcher?.close();
    [this.asked, this.#data, this.saved] = [asked, data, undefined];
    [this.watched, this.unsaved, this.claim] = [undefined, undefined, undefined];
    const claimed = this.#claimed(asked, data);
    const [counter, coordinator] = [this.#counters.take, this.#coordinators.take];
    const { device, float_mode } = devices;
    const workers = workersOf(devices, this.#around.cores);
    const run = new AuditRun(
      this.#subject(asked, data, state, claimed),
      { device, float_mode },
      { counter, coordinator, workers },
      () => {
        if (run.phase === "paused") void this.#keep(run, () => run.checkpoint());
        this.#around.changed();
      },
    );
    this.run = run;
    this.#kept = { at: Number.NEGATIVE_INFINITY, done: 0 };
    void run.start();
    this.#around.changed();
  }

  #subject(
    asked: K["question"],
    data: SentFiles | undefined,
    state: Uint8Array | undefined,
    claimed: Promise<number | undefined>,
  ): Subject<K["question"], K["found"], K["answer"]> {
    const { protocol } = this;
    const command = this.#command(asked, data);
    return {
      plan: asked,
      total: protocol.totalOf(asked),
      pace: PACE,
      recovery: "its trainings are repeated",
      opens: [command, state],
      shares: [command],
      estimate: protocol.estimate,
      begun: (layout) => {
        this.#watcher = new Client(this.#counters.take);
        this.#watcher
          .request("prepare", [layout, command] as never[])
          .then(() => this.watch(0))
          .catch(() => undefined);
      },
      evaluated: async (coordinator) => {
        const { run } = this;
        if (run === undefined || performance.now() - this.#kept.at < SAVE_MS) return;
        await this.#keep(run, () => coordinator.request("to_bytes", []));
      },
      finished: async (coordinator, elapsed_ms) => {
        const claim = await claimed;
        // it has more functions than the coordinators of every audit
        const ours = coordinator as unknown as Client<TrainerApi<K>>;
        const answer = (await ours.request("report", [claim, elapsed_ms])) as K["answer"];
        await this.#storage.clear();
        return answer;
      },
    };
  }

  /** Keeps the counts so far for the next visit. */
  async #keep(
    run: AuditRun<K["question"], K["found"], K["answer"]>,
    state: () => Promise<Uint8Array>,
  ): Promise<void> {
    const { asked } = this;
    if (run !== this.run || asked === undefined || run.done === this.#kept.done) return;
    const { done } = run;
    this.#kept = { at: performance.now(), done };
    try {
      const saved = { asked, files: this.#data, state: await state(), done };
      this.unsaved = await this.#storage.save({ version: this.#around.version, ...saved });
    } catch {
      // cancelled meanwhile
    }
  }

  async #claimed(asked: K["question"], data: SentFiles | undefined): Promise<number | undefined> {
    const accountants: Accountants<K> = {
      poisson: async ({ delta, uses_per_epoch, ...length }) => {
        this.#theory ??= new Client(this.#around.theory);
        const training = accountedTraining(length, uses_per_epoch);
        return (await this.#theory.request("bound", ["poisson", training, { delta }])).epsilon;
      },
      overview: async () => {
        const command = this.#command(asked, data);
        return (await this.#checker().request("overview", [command])) as K["overview"];
      },
    };
    try {
      const epsilon = await this.protocol.claimOf(asked, accountants);
      if (epsilon === undefined || asked !== this.asked) return undefined;
      // as many digits as a claim is printed with, and not below it
      this.claim = Math.ceil(1e4 * epsilon) / 1e4;
      this.#around.changed();
      return this.claim;
    } catch {
      return undefined;
    }
  }

  /** A worker that checks settings, in place of one that broke. */
  #checker(): Client<TrainerCountApi<K>> {
    if (this.#looker?.broken !== undefined) this.#looker = undefined;
    this.#looker ??= new Client(this.protocol.counter);
    return this.#looker;
  }

  #checkNow(state: State): Promise<void> {
    const key = this.#keyOf(state);
    if (this.#check?.key !== key) {
      this.#check = { key, over: this.#look(state, key) };
    }
    return this.#check.over;
  }

  async #look(state: State, key: string): Promise<void> {
    const asked = this.protocol.questionOf(state);
    const files = this.#sent(asked);
    const lacks = this.protocol.lacks?.(asked, files);
    const checked =
      lacks === undefined
        ? this.#checker().request("overview", [this.#command(asked, files)])
        : Promise.reject(lacks);
    const found = await checked.then(
      (overview) => ({ overview, refused: undefined }),
      (thrown) => ({ overview: undefined, refused: refusalOf(thrown, this.protocol.fields) }),
    );
    if (key !== this.#key) {
      if (this.#check?.key === key) this.#check = undefined; // to be asked again if it is wanted
      return;
    }
    this.#checked = key;
    this.overview = found.overview as K["overview"] | undefined;
    this.refused = found.refused;
    if (found.refused === undefined) {
      this.#counters.fill(workersOf(state, this.#around.cores) + 1); // one to watch
      this.#coordinators.fill(1);
    }
    this.#around.changed();
  }
}

/** Names of the reader's files. */
function namesOf(files: SentFiles | undefined): DataNames {
  return { data: files?.data?.name, labels: files?.labels?.name };
}

function sent({ name, bytes }: { name: string; bytes: Uint8Array }) {
  return { name, bytes };
}
