//! The document of `audit pategan`.

use std::time::Instant;

use dpscope_core::accounting::Kind;
use dpscope_core::accounting::pate::VotesEpsilon;
use dpscope_core::audit::claim::Verdict;
use dpscope_report::number::{confidence, plain};
use dpscope_report::record::{
    CheckOutcome, GeneratorCheck, GeneratorFault, PateGanReport, PateGanSettings, SeedSource,
};
use dpscope_synth::Mechanism;
use dpscope_synth::attack::AttackResult;
use dpscope_synth::detect::{Check, Observation};

use super::PateGanArgs;

pub(super) struct Outcome<'a> {
    pub(super) mechanism: &'a Mechanism,
    pub(super) iterations: u32,
    pub(super) found: &'a AttackResult,
    pub(super) checks: &'a [Check],
    pub(super) accounted: VotesEpsilon,
}

impl Outcome<'_> {
    /// Whether the bound exceeds what is accounted for.
    pub(super) fn is_refuted(&self) -> bool {
        self.found.bound.value() > self.accounted.composed.upper
    }

    pub(super) fn report(
        &self,
        args: &PateGanArgs,
        seed: u64,
        seed_source: SeedSource,
        started: Instant,
    ) -> PateGanReport {
        let settings = self.mechanism.settings();
        let fault = |fault: dpscope_synth::Fault| GeneratorFault {
            name: fault.to_string(),
            detector: fault.description().detector.id(),
            says: fault.description().sentence,
        };
        PateGanReport {
            schema: "dpscope.pategan/1",
            version: env!("CARGO_PKG_VERSION"),
            headline: self.headline(),
            says: self.meaning(args),
            verdict: if self.is_refuted() { Verdict::Refuted } else { Verdict::NotRefuted },
            faults: self.mechanism.faults().iter().map(fault).collect(),
            settings: PateGanSettings {
                teachers: settings.teachers,
                gamma: settings.inverse_scale,
                batch_size: settings.batch_size,
                iterations: self.iterations,
                rows: settings.rows,
            },
            checks: self.checks.iter().map(check).collect(),
            checks_significance: args.checks_significance,
            auc: self.found.auc,
            epsilon: self.found.bound.value(),
            ceiling: self.found.ceiling,
            accounted_epsilon: self.accounted.composed.upper,
            moments_epsilon: self.accounted.moments.epsilon,
            delta: settings.delta,
            significance: args.statement.significance(),
            runs: args.runs,
            evaluated: self.found.trials.target,
            seed: seed.to_string(),
            seed_source,
            elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        }
    }

    fn headline(&self) -> String {
        let lower = plain(self.found.bound.value(), Kind::Lower, 2);
        let upper = plain(self.accounted.composed.upper, Kind::Upper, 2);
        let fired = self.checks.iter().filter(|check| check.has_fired()).count();
        let checks = match fired {
            0 => "no check reports a fault".to_owned(),
            1 => "1 check reports a fault".to_owned(),
            more => format!("{more} checks report faults"),
        };
        if self.is_refuted() {
            format!("The accounted ε = {upper} is refuted: the rows show ε ≥ {lower}; {checks}")
        } else {
            format!("The rows show ε ≥ {lower}, and ε ≤ {upper} is accounted for; {checks}")
        }
    }

    fn meaning(&self, args: &PateGanArgs) -> String {
        let fired = self.checks.iter().any(Check::has_fired);
        let held = confidence(args.statement.significance());
        let ceiling = plain(self.found.ceiling, Kind::Lower, 2);
        let could = format!(
            "with so many runs an attack without errors would have shown ε ≥ {ceiling}; no attack can show more"
        );
        match (self.is_refuted(), fired) {
            (true, true) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, and the \
                 checks name why; {could}"
            ),
            (true, false) => format!(
                "the released rows leak more than is accounted for, with {held} confidence, for a \
                 reason that no check sees; {could}"
            ),
            (false, true) => format!(
                "a fault is present, and the attack on the rows does not refute what is accounted for: \
                 its bound is no proof of privacy; {could}"
            ),
            (false, false) => format!(
                "neither the attack nor a check found more leakage than accounted for, which is no proof \
                 that there is none; {could}"
            ),
        }
    }
}

fn check(check: &Check) -> GeneratorCheck {
    let (outcome, says, faults) = match &check.observation {
        Observation::Clear => (CheckOutcome::Clear, None, Vec::new()),
        Observation::Untestable { reason } => {
            (CheckOutcome::Untestable, Some((*reason).to_owned()), Vec::new())
        }
        Observation::Fired { seen, faults } => {
            let names = faults.iter().map(ToString::to_string).collect();
            (CheckOutcome::Fired, Some(seen.clone()), names)
        }
    };
    GeneratorCheck {
        detector: check.detector.id(),
        name: check.name,
        outcome,
        says,
        faults,
        p_value: check.p_value,
        remedy: check.has_fired().then_some(check.remedy),
    }
}
