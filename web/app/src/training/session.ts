import type {
  ExpectedScoreBin,
  TrainingAnswer,
  TrainingOverview,
  TrainingQuestion,
  WatchedTraining,
} from "@dpscope/wasm/training";
import { Client, failureOf, type WorkerLike } from "../../../protocol/protocol";
import { AuditRun, type Crew } from "../audit/run";
import type { CoordinatorApi, Subject } from "../audit/subject";
import { DroppedFiles } from "../files/dropped";
import type { State } from "../state/fields";
import type { SentFiles } from "../workers/sent-files";
import type { TheoryApi } from "../workers/theory.worker";
import type { TrainingApi } from "../workers/training.worker";
import type { TrainingCountApi } from "../workers/training-count.worker";
import { type DataRole, dataRoleOf } from "./files";
import { questionOf } from "./question";
import { type Saved, SavedAudit, type Storage } from "./saved";

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

export interface Workers extends Crew {
  theory(): WorkerLike;
}

/** One training as it is watched: with the canary and without. */
export interface Watched {
  run: number;
  worlds: readonly [WatchedTraining, WatchedTraining];
}

/** Workers that have loaded their program before they are needed. */
class WarmWorkers {
  readonly #spawn: () => WorkerLike;
  readonly #most: number;
  #waiting: WorkerLike[] = [];

  constructor(spawn: () => WorkerLike, most: number) {
    this.#spawn = spawn;
    this.#most = most;
  }

  fill(): void {
    while (this.#waiting.length < this.#most) {
      const worker = this.#spawn();
      // one that does not load is of no use later
      worker.onerror = () => {
        this.#waiting = this.#waiting.filter((other) => other !== worker);
      };
      this.#waiting.push(worker);
    }
  }

  readonly take = (): WorkerLike => this.#waiting.pop() ?? this.#spawn();
}

/** The trainings of the page: their audit, one run to watch, and the reader's data. */
export class TrainingSession {
  readonly files = new DroppedFiles<DataRole>(dataRoleOf, () => false);
  run: AuditRun | undefined;
  /** What the run was started with. */
  asked: TrainingQuestion | undefined;
  /** ε that Poisson accounting claims for it. */
  claim: number | undefined;
  answer: TrainingAnswer | undefined;
  scores: readonly ExpectedScoreBin[] = [];
  watched: Watched | undefined;
  /** What the settings stand for, or why they cannot be trained. */
  overview: TrainingOverview | undefined;
  refused: { field?: string; message: string } | undefined;
  /** An audit of an earlier visit. */
  saved: Saved | undefined;
  /** Why runs are not saved. */
  unsaved: string | undefined;
  readonly #workers: Workers;
  readonly #counters: WarmWorkers;
  readonly #coordinators: WarmWorkers;
  readonly #changed: () => void;
  readonly #version: string;
  readonly #storage: SavedAudit;
  #theory: Client<TheoryApi> | undefined;
  #looker: Client<TrainingCountApi> | undefined;
  #watcher: Client<TrainingCountApi> | undefined;
  #key = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the counts were last kept, and how many there were. */
  #kept = { at: Number.NEGATIVE_INFINITY, done: 0 };
  #data: SentFiles | undefined;

  constructor(workers: Workers, storage: Storage, version: string, changed: () => void) {
    this.#counters = new WarmWorkers(workers.counter, workers.cores + 1);
    this.#coordinators = new WarmWorkers(workers.coordinator, 1);
    this.#workers = {
      ...workers,
      counter: this.#counters.take,
      coordinator: this.#coordinators.take,
    };
    this.#changed = changed;
    this.#version = version;
    this.#storage = new SavedAudit(storage);
    void this.#storage.load(version).then((saved) => {
      if (saved === undefined || this.run !== undefined) return;
      this.saved = saved;
      changed();
    });
  }

  /** Looks at what the settings stand for. */
  show(state: State): void {
    const asked = questionOf(state);
    const key = JSON.stringify([
      asked,
      this.files.list.map(({ name, bytes }) => [name, bytes.length]),
    ]);
    if (key === this.#key) return;
    this.#key = key;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(asked, key), PATIENCE_MS);
  }

  /** Whether the run on screen is of other settings. */
  isStale(state: State): boolean {
    return (
      this.asked !== undefined && JSON.stringify(this.asked) !== JSON.stringify(questionOf(state))
    );
  }

  async add(files: Iterable<File>): Promise<void> {
    await this.files.add(files);
    this.#changed();
  }

  /** The reader's data set, if the page has it. */
  get data(): SentFiles | undefined {
    const file = (role: DataRole) => this.files.usable.find((file) => file.role === role);
    const [data, labels] = [file("data"), file("labels")];
    if (data === undefined) return undefined;
    return { data: sent(data), labels: labels === undefined ? undefined : sent(labels) };
  }

  /** The name of a file of the run on screen. */
  sentName(role: DataRole): string | undefined {
    return this.#data?.[role]?.name;
  }

  start(state: State, options: Pick<State, "device" | "float_mode">): void {
    this.#begin(questionOf(state), this.data, options, undefined);
  }

  /** Continues the audit of an earlier visit. */
  resume(options: Pick<State, "device" | "float_mode">): void {
    const { saved } = this;
    if (saved === undefined) return;
    this.#begin(saved.asked, saved.files, options, saved.state);
  }

  /** Forgets the audit of an earlier visit. */
  forget(): void {
    this.saved = undefined;
    void this.#storage.clear();
    this.#changed();
  }

  /** Trains one run, the same as in the audit, to be watched. */
  async watch(run: number): Promise<void> {
    const client = this.#watcher;
    if (client === undefined) return;
    try {
      const worlds = [
        await client.request("watch", ["target", run]),
        await client.request("watch", ["zero-out", run]),
      ] as const;
      if (client === this.#watcher) this.watched = { run, worlds };
    } catch {
      // closed by the next audit, or by a page without memory for it: nothing to watch
    }
    this.#changed();
  }

  #begin(
    asked: TrainingQuestion,
    data: SentFiles | undefined,
    { device, float_mode }: Pick<State, "device" | "float_mode">,
    state: Uint8Array | undefined,
  ): void {
    this.run?.cancel();
    this.#watcher?.close();
    [this.asked, this.#data, this.saved] = [asked, data, undefined];
    [this.answer, this.watched, this.scores, this.unsaved] = [undefined, undefined, [], undefined];
    this.claim = undefined;
    const claimed = this.#claimed(asked);
    const run = new AuditRun(
      this.#subject(asked, data, state, claimed),
      { device, float_mode },
      this.#workers,
      () => {
        if (run.phase === "paused") void this.#keep(run, () => run.checkpoint());
        this.#changed();
      },
    );
    this.run = run;
    this.#kept = { at: Number.NEGATIVE_INFINITY, done: 0 };
    void run.start();
    this.#changed();
  }

  #subject(
    asked: TrainingQuestion,
    data: SentFiles | undefined,
    state: Uint8Array | undefined,
    claimed: Promise<number | undefined>,
  ): Subject {
    return {
      plan: asked.plan,
      pace: PACE,
      opens: [asked, data, state],
      shares: [data],
      begun: (layout) => {
        this.#watcher = new Client(this.#workers.counter);
        this.#watcher
          .request("prepare", [layout as Uint8Array<ArrayBuffer>, data])
          .then(() => this.watch(0))
          .catch(() => undefined);
      },
      evaluated: async (coordinator) => {
        this.scores = await ours(coordinator).request("scores", []);
        const { run } = this;
        if (run === undefined || performance.now() - this.#kept.at < SAVE_MS) return;
        await this.#keep(run, () => coordinator.request("to_bytes", []));
      },
      finished: async (coordinator, elapsed_ms) => {
        const claim = await claimed;
        this.answer = await ours(coordinator).request("report", [claim, elapsed_ms]);
        await this.#storage.clear();
      },
    };
  }

  /** Keeps the counts so far for the next visit. */
  async #keep(run: AuditRun, state: () => Promise<Uint8Array>): Promise<void> {
    const { asked } = this;
    if (run !== this.run || asked === undefined || run.done === this.#kept.done) return;
    const { done } = run;
    this.#kept = { at: performance.now(), done };
    try {
      const saved = { asked, files: this.#data, state: await state(), done };
      this.unsaved = await this.#storage.save({ version: this.#version, ...saved });
    } catch {
      // cancelled meanwhile
    }
  }

  /** ε that is claimed where Poisson batches are assumed. */
  async #claimed({ plan }: TrainingQuestion): Promise<number | undefined> {
    this.#theory ??= new Client(this.#workers.theory);
    const { noise_multiplier, steps, epochs } = plan.mechanism;
    const training = { noise_multiplier, steps, epochs };
    try {
      const found = await this.#theory.request("bound", [
        "poisson",
        training,
        { delta: plan.delta },
      ]);
      // as many digits as a claim is printed with, and not below it
      this.claim = Math.ceil(1e4 * found.epsilon) / 1e4;
      this.#changed();
      return this.claim;
    } catch {
      return undefined;
    }
  }

  async #look(asked: TrainingQuestion, key: string): Promise<void> {
    this.#looker ??= new Client(this.#workers.counter);
    const client = this.#looker;
    try {
      const overview = await client.request("overview", [asked, this.data]);
      if (key !== this.#key) return;
      [this.overview, this.refused] = [overview, undefined];
      this.#counters.fill();
      this.#coordinators.fill();
    } catch (thrown) {
      if (key !== this.#key) return;
      if (client.broken !== undefined) this.#looker = undefined;
      [this.overview, this.refused] = [undefined, failureOf(thrown)];
    }
    this.#changed();
  }
}

function sent({ name, bytes }: { name: string; bytes: Uint8Array }) {
  return { name, bytes };
}

/** The coordinator of trainings, which has more functions than those of every audit. */
function ours(coordinator: Client<CoordinatorApi>): Client<TrainingApi> {
  return coordinator as unknown as Client<TrainingApi>;
}
