import type { Asked } from "@dpscope/wasm/files";
import { numberText } from "../../../fields/field";
import type { WorkerLike } from "../../../protocol/protocol";
import type { DroppedFile } from "../files/dropped";
import { DroppedFilesSession } from "../files/session";
import { AUDITED, pathOf, pathsOf } from "../questions/roles";
import { wordsOf } from "../questions/words";
import type { State } from "../state/fields";
import type { Given } from "../state/given";
import type { FilesApi } from "../workers/files.worker";
import type { GeneratorApi } from "../workers/generator.worker";
import { Lane } from "../workers/lane";
import { type CanaryRole, missing, roleOf } from "./canary-files";

const LONGEST_MS = 120_000;
/** Roles that the audit of one run reads, and its options for them. */
const PASSED = [
  ["canary_array", "canaries"],
  ["coins", "coins"],
  ["plan", "plan"],
  ["seed", "plan"],
  ["commitment", "plan"],
  ["audited", "plan"],
] as const;

/** The audit of canary rows of one run: they are scored, and audited as any canaries are. */
export class CanariesSession extends DroppedFilesSession<CanaryRole, Asked> {
  readonly #scores: Lane<GeneratorApi>;
  readonly #audits: Lane<FilesApi>;
  /** What the program wrote to the folder of each plan, by the text of the plan. */
  readonly #records = new Map<string, string>();

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
    const plan = new TextDecoder().decode(this.#file("plan")?.bytes);
    const record = this.#records.get(plan);
    const passed = PASSED.flatMap(([own, role]) => {
      const file = this.#file(own);
      const isReplaced = own === "audited" && record !== undefined;
      return file === undefined || isReplaced ? [] : [{ ...file, role: role as string }];
    });
    const files = [{ role: "scores", name: "scores.npy", bytes: scores }, ...passed];
    if (record !== undefined) {
      files.push({ role: "plan", name: AUDITED, bytes: new TextEncoder().encode(record) });
    }
    const { words } = wordsOf("one-run", givenBy(state, claim), pathsOf("one-run", files));
    this.#audits.run(async (ask) => {
      const outcome = await ask("ask", {
        words,
        names: files.map((file) => pathOf("one-run", file, files)),
        contents: files.map((file) => file.bytes),
      });
      if ("value" in outcome) this.found = this.#remembered(plan, outcome.value);
      this.end("failure" in outcome ? outcome.failure.message : undefined);
    });
  }

  /** The answer, which says what belongs into the folder of the plan: what is audited later is no first audit. */
  #remembered(plan: string, answer: Asked): Asked {
    const { audited, notes } = answer;
    if (plan === "" || audited === undefined) return answer;
    this.#records.set(plan, audited);
    const note = `This page cannot write to the folder of the plan. Save this as ${AUDITED} there: ${audited.trim()}`;
    return { ...answer, notes: [...notes, note] };
  }

  #file(role: CanaryRole): DroppedFile<CanaryRole> | undefined {
    return this.files.usable.find((file) => file.role === role);
  }
}

/** δ and significance of the page, which a plan replaces, and its claim or that of the manifest. */
function givenBy({ delta, significance, syn_claim }: State, stated: number | undefined): Given {
  const claim = syn_claim ?? stated;
  return {
    "one-run.delta": numberText(delta),
    "one-run.significance": numberText(significance),
    ...(claim === undefined ? {} : { "one-run.claim": numberText(claim) }),
  };
}
