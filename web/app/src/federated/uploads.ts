import type { FederatedAudit, FederatedOptions } from "@dpscope/wasm/federated";
import type { WorkerLike } from "../../../protocol/protocol";
import { type DroppedFile, DroppedFiles } from "../files/dropped";
import type { State } from "../state/fields";
import type { FederatedApi } from "../workers/federated.worker";
import { Lane } from "../workers/lane";
import { type FederatedRole, missing, roleOf } from "./files";

const LONGEST_MS = 120_000;

/** The audit of the reader's training. */
export class CosinesSession {
  readonly files = new DroppedFiles<FederatedRole>(roleOf, () => false);
  found: FederatedAudit | undefined;
  failure: string | undefined;
  isBusy = false;
  isCancelled = false;
  #state: State | undefined;
  #key = "";
  readonly #audits: Lane<FederatedApi>;
  readonly #changed: () => void;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    this.#audits = new Lane(spawn, 0, LONGEST_MS);
    this.#changed = changed;
  }

  show(state: State): void {
    const key = JSON.stringify(optionsOf(state, true));
    this.#state = state;
    if (key === this.#key) return;
    this.#key = key;
    this.audit();
  }

  async add(files: Iterable<File>): Promise<void> {
    await this.files.add(files);
    this.audit();
  }

  remove(file: DroppedFile<FederatedRole>): void {
    this.files.remove(file);
    this.audit();
  }

  cancel(): void {
    this.#audits.stop();
    this.isBusy = false;
    this.isCancelled = true;
    this.#changed();
  }

  /** What is missing before an audit can start. */
  get waitsFor(): string | undefined {
    const state = this.#state;
    if (state === undefined) return undefined;
    return missing(new Set(this.files.usable.map((file) => file.role)), state);
  }

  audit(): void {
    this.found = undefined;
    this.failure = undefined;
    this.isCancelled = false;
    const files = this.files.usable;
    const hasCosines = files.some((file) => file.role === "cosines");
    const state = this.#state;
    this.isBusy = state !== undefined && this.waitsFor === undefined;
    this.#changed();
    if (state === undefined || !this.isBusy) {
      this.#audits.stop();
      return;
    }
    this.#audits.run(async (ask) => {
      const outcome = await ask(
        "audit_federated",
        files.map((file) => file.role),
        files.map((file) => file.name),
        files.map((file) => file.bytes),
        optionsOf(state, hasCosines),
      );
      if ("failure" in outcome) this.failure = outcome.failure.message;
      else this.found = outcome.value;
      this.isBusy = false;
      this.#changed();
    });
  }
}

function optionsOf(state: State, hasCosines: boolean): FederatedOptions {
  const { delta, significance, fed_parameters, fed_attacker, fed_inserted, fed_claim } = state;
  const { fed_control, fed_control_cosine } = state;
  return {
    delta,
    significance,
    attacker: fed_attacker,
    ...(fed_parameters === undefined ? {} : { dimension: fed_parameters }),
    ...(fed_attacker === "all_updates" && state.fed_server_rounds !== undefined
      ? { server_rounds: state.fed_server_rounds }
      : {}),
    ...(fed_inserted === undefined ? {} : { canaries: fed_inserted }),
    ...(state.run_number === "poisson" ? { mean: state.run_mean } : {}),
    ...(state.run_number === "bernoulli"
      ? { slots: state.run_slots, inclusion: state.run_inclusion }
      : {}),
    ...(fed_control === undefined ? {} : { control_included: fed_control === "included" }),
    ...(fed_control === undefined || fed_control_cosine === undefined || !hasCosines
      ? {}
      : { control_cosine: fed_control_cosine }),
    ...(fed_claim === undefined ? {} : { claim: fed_claim }),
  };
}
