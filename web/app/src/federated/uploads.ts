import type { FederatedAudit, FederatedOptions } from "@dpscope/wasm/federated";
import type { WorkerLike } from "../../../protocol/protocol";
import { DroppedFilesSession } from "../files/session";
import type { State } from "../state/fields";
import type { FederatedApi } from "../workers/federated.worker";
import { Lane } from "../workers/lane";
import { type FederatedRole, missing, roleOf } from "./files";

const LONGEST_MS = 120_000;

/** The audit of the reader's training. */
export class CosinesSession extends DroppedFilesSession<FederatedRole, FederatedAudit> {
  readonly #audits: Lane<FederatedApi>;

  constructor(spawn: () => WorkerLike, changed: () => void) {
    super(roleOf, changed);
    this.#audits = new Lane(spawn, 0, LONGEST_MS);
  }

  protected settingsOf(state: State): FederatedOptions {
    return optionsOf(state, true);
  }

  protected stop(): void {
    this.#audits.stop();
  }

  /** What is missing before an audit can start. */
  get waitsFor(): string | undefined {
    return this.state === undefined ? undefined : missing(this.roles, this.state);
  }

  audit(): void {
    const state = this.begin(this.waitsFor === undefined);
    if (state === undefined) return;
    const files = this.files.usable;
    const hasCosines = files.some((file) => file.role === "cosines");
    this.#audits.run(async (ask) => {
      const outcome = await ask(
        "audit_federated",
        files.map((file) => file.role),
        files.map((file) => file.name),
        files.map((file) => file.bytes),
        optionsOf(state, hasCosines),
      );
      if ("value" in outcome) this.found = outcome.value;
      this.end("failure" in outcome ? outcome.failure.message : undefined);
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
