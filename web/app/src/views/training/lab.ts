import "../../styles/synthetic.css";
import "../../styles/training.css";
import { html, nothing, type TemplateResult } from "lit/html.js";
import type { App } from "../../app";
import { focusSoon, keepFocus } from "../../components/focus";
import { DroppedFiles } from "../../files/dropped";
import { freshSeed } from "../../state/seed";
import { type DataRole, dataRoleOf } from "../../training/files";
import { CanaryOptimisation } from "../../training/optimisation";
import {
  FEDERATED,
  type Federated,
  type Kind,
  ONE_RUN,
  type OneRun,
  TWO_WORLDS,
  type TwoWorlds,
} from "../../training/protocols";
import { browserStorage } from "../../training/saved";
import { TrainingSession } from "../../training/session";
import { canaryOptimiserWorker, theoryWorker } from "../../workers/spawn";
import { canaryOutcome } from "./canaries";
import { watchCanaries } from "./canary-watch";
import { clientOutcome, watchClients } from "./clients";
import { optimised } from "./optimised";
import { outcome } from "./outcome";
import { CANCEL, progress, saved } from "./progress";
import { START, settings } from "./settings";
import { watch } from "./watch";

/** Each worker holds the data and a model; a chosen number of workers may be higher. */
const MOST_CORES = 16;

interface Sessions {
  files: DroppedFiles<DataRole>;
  twoWorlds: TrainingSession<TwoWorlds>;
  oneRun: TrainingSession<OneRun>;
  optimisation: CanaryOptimisation;
  federated: TrainingSession<Federated>;
}

let sessions: Sessions | undefined;

function opened(app: App): Sessions {
  const files = new DroppedFiles<DataRole>(dataRoleOf, () => false);
  const page = { storage: browserStorage, version: app.version, changed: () => app.redraw() };
  const optimisation = new CanaryOptimisation({ ...page, spawn: canaryOptimiserWorker });
  const around = {
    ...page,
    optimisation,
    theory: theoryWorker,
    cores: Math.min(MOST_CORES, app.audit.cores),
    files,
    pauseAll,
  };
  return {
    files,
    optimisation,
    twoWorlds: new TrainingSession(TWO_WORLDS, around),
    oneRun: new TrainingSession(ONE_RUN, around),
    federated: new TrainingSession(FEDERATED, around),
  };
}

function pauseAll(): void {
  sessions?.twoWorlds.run?.pause();
  sessions?.oneRun.run?.pause();
  sessions?.federated.run?.pause();
}

/** The trainings of the chosen protocol: settings, what they show, and one to watch. */
export function lab(app: App): TemplateResult {
  sessions ??= opened(app);
  const { twoWorlds, oneRun, federated } = sessions;
  switch (app.state.train_protocol) {
    case "one-run":
      return shown(
        app,
        oneRun,
        canaryOutcome(app, oneRun),
        watchCanaries(app, oneRun),
        optimised(app, sessions.optimisation, oneRun.data),
      );
    case "federated":
      return shown(app, federated, clientOutcome(app, federated), watchClients(app, federated));
    default:
      return shown(app, twoWorlds, outcome(app, twoWorlds), watch(app, twoWorlds));
  }
}

function shown<K extends Kind>(
  app: App,
  session: TrainingSession<K>,
  found: unknown,
  watched: unknown,
  before: unknown = nothing,
): TemplateResult {
  session.show(app.state);
  const { run } = session;
  if (run?.isOver === true) keepFocus(".training .bar-row button", START);
  const files = sessions?.files;
  return html`<div class="training">
    ${files === undefined ? nothing : settings(app, session, files, () => void begin(app, session))}
    ${before} ${saved(app, session)}
    ${
      run === undefined
        ? nothing
        : html`<section class="panel audit spaced" aria-labelledby="train-head" aria-busy=${String(!run.isOver)}>
            <div class="head">
              <h2 id="train-head">Audit of the trainings</h2>
              <p class="small">${run.device}</p>
            </div>
            ${progress(app, session, run)} ${found}
          </section>`
    }
    ${watched}
  </div>`;
}

/** Starts once the settings on screen are accepted. */
async function begin<K extends Kind>(app: App, session: TrainingSession<K>): Promise<void> {
  if (session.isStarting) return;
  session.isStarting = true;
  try {
    if (!(await session.accepts(() => app.state))) return;
  } finally {
    session.isStarting = false;
    app.redraw();
  }
  if (session.run !== undefined && !session.isStale(app.state)) {
    app.change({ seed: freshSeed() });
    app.announce("Training with a new seed.");
  }
  session.start(app.state);
  focusSoon(CANCEL);
}
