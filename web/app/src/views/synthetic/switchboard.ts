import type { FaultFacts, FaultGroup } from "@dpscope/wasm/synth";
import { html, nothing, type TemplateResult } from "lit/html.js";
import { rounded } from "../../../../numbers/rounded";
import type { App } from "../../app";
import { namesOf, turned } from "../../synthetic/question";
import { facts, type PateGanSession } from "../../synthetic/session";
import { lampLine } from "./lamps";

/** The fault of the published audit itself. */
const HARNESS = "E1";

/** The faithful mechanism and the audited implementations, one of which may be what is switched on. */
export function presets(app: App): TemplateResult {
  const { syn_faults } = app.state;
  const own = namesOf(syn_faults).filter((name) => name !== HARNESS);
  const isHarnessed = namesOf(syn_faults).includes(HARNESS);
  const chosen = facts.implementations.find(({ faults }) => faults === own.join(","));
  const published = chosen?.published;
  return html`<div class="presets">
    <div class="segments" role="group" aria-label="Implementation">
      ${facts.implementations.map(
        ({ name, faults }) =>
          html`<button
            type="button"
            aria-pressed=${String(name === chosen?.name)}
            @click=${() => set(app, isHarnessed ? turned(faults, HARNESS) : faults)}
          >
            ${name}
          </button>`,
      )}
    </div>
    <label class="harness">
      <input
        type="checkbox"
        role="switch"
        .checked=${isHarnessed}
        @change=${() => set(app, turned(syn_faults, HARNESS))}
      />
      with the published audit’s own fault, ${HARNESS}
    </label>
    <p class="small">
      ${
        chosen === undefined
          ? `Faults that are on: ${namesOf(syn_faults).join(", ")}.`
          : own.length === 0
            ? "No fault is on: the mechanism of the paper."
            : html`Faults that are on: ${own.join(", ")}.
              ${published === undefined ? nothing : `The published audit, with ${HARNESS}, printed ε = ${published.toFixed(2)}.`}`
      }
    </p>
  </div>`;
}

/** All faults as switches, by where they were found, below the indicators in short. */
export function switchboard(app: App, session: PateGanSession): TemplateResult {
  const { report } = session.answer;
  return html`<section class="spaced" aria-labelledby="faults-head">
    <div class="faults-head">
      <h2 id="faults-head">Faults</h2>
      <div class="in-short ${session.isStale ? "stale" : ""}" aria-hidden="true">
        ${lampLine(report.checks)}
        <span class="short-epsilon">ε ≥ ${rounded(report.epsilon, "lower", 2)}</span>
      </div>
      <button
        type="button"
        class="quiet"
        ?disabled=${app.state.syn_faults === ""}
        @click=${() => set(app, "")}
      >
        All off
      </button>
    </div>
    <div class="switchboard">${facts.groups.map((group) => section(app, group))}</div>
  </section>`;
}

function section(app: App, { name, says, faults }: FaultGroup): TemplateResult {
  const title = name === "own" ? "found here" : name;
  return html`<fieldset class="faults ${name}">
    <legend>${title} <span class="small origin">${says}</span></legend>
    ${faults.map((fault) => toggle(app, fault))}
  </fieldset>`;
}

function toggle(app: App, fault: FaultFacts): TemplateResult {
  const { name, says, detector } = fault;
  const isAlias = fault.switch !== name;
  const isOn = namesOf(app.state.syn_faults).includes(fault.switch);
  return html`<label class="fault ${isOn ? "on" : ""}">
    <input
      type="checkbox"
      role="switch"
      .checked=${isOn}
      aria-labelledby="name-${name}"
      aria-describedby="fault-${name}"
      @change=${() => flip(app, fault)}
    />
    <strong id="name-${name}">${name}</strong>
    <span id="fault-${name}" class="says"
      >${isAlias ? `As ${fault.switch}. ` : ""}${says} <span class="seen-by">${detector}</span></span
    >
  </label>`;
}

/** A fault that concerns when training ends needs an ε at which it ends. */
function flip(app: App, fault: FaultFacts): void {
  const faults = turned(app.state.syn_faults, fault.switch);
  const isOn = namesOf(faults).includes(fault.switch);
  if (!isOn || !fault.needs_epsilon || app.state.syn_stop === "epsilon") {
    set(app, faults);
    return;
  }
  app.announce("Training now ends at an ε, which this fault is about.");
  app.change({ syn_faults: ordered(faults), syn_stop: "epsilon" });
}

function set(app: App, faults: string): void {
  app.change({ syn_faults: ordered(faults) });
}

/** In the order of the switches, as the program lists them. */
function ordered(faults: string): string {
  const names = new Set(namesOf(faults));
  const switches = facts.groups.flatMap((group) => group.faults.map((fault) => fault.switch));
  return [...new Set(switches)].filter((name) => names.has(name)).join(",");
}
