import type { OneRunOptions, RecordedRun } from "@dpscope/wasm/one_run";
import type { WorkerLike } from "../../../protocol/protocol";
import type { DroppedFile } from "../files/dropped";
import { DroppedFilesSession } from "../files/session";
import type { State } from "../state/fields";
import type { GeneratorApi } from "../workers/generator.worker";
import { Lane } from "../workers/lane";
import type { OneRunApi } from "../workers/one-run.worker";
import { type CanaryRole, missing, roleOf } from "./canary-files";

const LONGEST_MS = 120_000;
/** Roles that the audit of one run reads, and its names for them. */
const PASSED = [
  ["canary_array", "canaries"],
  ["coins", "coins"],
  ["plan", "plan"],
  ["seed", "seed"],
  ["commitment", "commitment"],
  ["audited", "audited"],
] as const;

/** The audit of canary rows of one run: they are scored, and audited as any canaries are. */
export class CanariesSession extends DroppedFilesSession<CanaryRole, RecordedRun> {
  readonly #scores: Lane<GeneratorApi>;
  readonly #audits: Lane<OneRunApi>;

  constructor(spawn: { scores(): WorkerLike; audits(): WorkerLike }, changed: () => void) {
    super(roleOf, changed);
    this.#scores = new Lane(spawn.scores, 0, LONGEST_MS);
    this.#audits = new Lane(spawn.audits, 0, LONGEST_MS);
  }

  protected settingsOf({ delta, significance, syn_claim, syn_scoring }: State): unknown {
    return [delta, significance, syn_claim, syn_scoring];
  }

  protected stop(): void {
    this.#scores.stop();
    this.#audits.stop();
  }

  /** What is missing before an audit can start. */
  get waitsFor(): string | undefined {
    return missing(this.roles);
  }

  audit(): void {
    const state = this.begin(this.waitsFor === undefined);
    if (state === undefined) return;
    this.#scores.run(async (ask) => {
      const files = (["columns", "canaries", "released"] as const).map((role) => this.#file(role));
      const outcome = await ask(
        "score_canaries",
        files.map((file) => file?.name ?? ""),
        files.map((file) => file?.bytes ?? new Uint8Array()),
        state.syn_scoring,
      );
      if ("value" in outcome) this.#audit(state, outcome.value);
      else this.end(outcome.failure.message);
    });
  }

  #audit(state: State, { scores, claim }: { scores: Uint8Array; claim?: number }): void {
    const passed = PASSED.flatMap(([own, role]) => {
      const file = this.#file(own);
      return file === undefined ? [] : [{ ...file, role: role as string }];
    });
    const files = [{ role: "scores", name: "scores.npy", bytes: scores }, ...passed];
    this.#audits.run(async (ask) => {
      const outcome = await ask(
        "audit_one_run",
        files.map((file) => file.role),
        files.map((file) => file.name),
        files.map((file) => file.bytes),
        optionsOf(state, claim),
      );
      if ("value" in outcome) this.found = outcome.value;
      this.end("failure" in outcome ? outcome.failure.message : undefined);
    });
  }

  #file(role: CanaryRole): DroppedFile<CanaryRole> | undefined {
    return this.files.usable.find((file) => file.role === role);
  }
}

/** The claim of the page, else that of the manifest. */
function optionsOf(state: State, stated: number | undefined): OneRunOptions {
  const { delta, significance } = state;
  const claim = state.syn_claim ?? stated;
  return { delta, significance, ...(claim === undefined ? {} : { claim }) };
}
