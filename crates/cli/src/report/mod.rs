//! What a run found, as one document: printed as JSON or told in words.

mod beside;
mod reach;
mod sentences;
mod simulation;
mod table;
mod text;
mod training;

pub(crate) use beside::Beside;
pub(crate) use reach::ReachFields;
pub(crate) use sentences::{InWords, plain, scientific};
pub(crate) use simulation::{RunFacts, of_artefact};
pub(crate) use table::{Align, table};
use text::to_text;
pub(crate) use text::{confidence, counted, grouped, row, short};
pub(crate) use training::Idealised;
use training::TrainingFacts;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::{AuditResult, Outcome, ScoreSlope, ValueAtCut};
use dpscope_core::bayesian::CredibleInterval;
use dpscope_core::claim::{ClaimError, PrivacyClaim, Verdict};
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_core::shown::given;
use dpscope_core::trade_off::Trials;
use dpscope_engine::Plan;
use serde::Serialize;

use crate::args::ClaimArgs;
use crate::failure::{Exit, Failure};
use crate::seed::SeedSource;

/// What was audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Subject {
    SimulatedMechanism,
    TrainedModels,
    RecordedOutputs,
    Scores,
    Counts,
}

impl Subject {
    /// What a refutation of this subject says, and what not.
    pub(crate) fn refutation(self) -> &'static str {
        match self {
            Subject::SimulatedMechanism => {
                "Shuffled or otherwise batched DP-SGD with these parameters, releasing every noisy \
                 sum, is not (epsilon, delta)-DP under zero-out adjacency. This does not measure \
                 your trained model or your code."
            }
            Subject::TrainedModels => {
                "DP-SGD as it is implemented here, with this model, data, sampler and noise, is not \
                 (epsilon, delta)-DP under this threat model. This does not measure your own \
                 training code."
            }
            Subject::RecordedOutputs => {
                "The code that recorded these outputs is not (epsilon, delta)-DP under this threat \
                 model, if its runs were independent and their number and the seed were fixed \
                 before they were seen."
            }
            Subject::Scores => {
                "The procedure behind these scores is not (epsilon, delta)-DP, if its runs were \
                 independent and their number and the seed were fixed before they were seen."
            }
            Subject::Counts => {
                "The procedure behind these counts is not (epsilon, delta)-DP, if its runs were \
                 independent and their number and the threshold were fixed before they were seen."
            }
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) version: &'static str,
    pub(crate) subject: Subject,
    pub(crate) adjacency: Adjacency,
    pub(crate) result: AuditResult,
    pub(crate) uncorrected_maximum: Option<ValueAtCut>,
    /// None where nothing is known of the training.
    pub(crate) theory: Option<Beside>,
    pub(crate) observations: Observations,
    pub(crate) non_finite: Trials,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) saturated: Option<Trials>,
    pub(crate) seed: Option<String>,
    pub(crate) seed_source: Option<SeedSource>,
    pub(crate) device: String,
    pub(crate) float_mode: String,
    pub(crate) fallback_shards: u64,
    pub(crate) elapsed_ms: f64,
    pub(crate) normals_per_second: Option<f64>,
    pub(crate) histogram_digest: Option<String>,
    pub(crate) resumed_from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score_slope: Option<ScoreSlope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) credible: Option<Credible>,
    pub(crate) plan: Option<Plan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) training: Option<TrainingFacts>,
    /// What was assumed of the runs that were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mechanism: Option<BatchedGaussian>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<serde_json::Value>,
    pub(crate) findings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) independence: Option<crate::commands::Independence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shuffle_reach: Option<ReachFields>,
    pub(crate) claim: Option<ClaimFields>,
    pub(crate) fail_above: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Observations {
    pub(crate) target: u64,
    pub(crate) zero_out: u64,
    /// Those that the rule evaluated.
    pub(crate) evaluated: Trials,
    /// Planned, both worlds together.
    pub(crate) planned: u64,
}

/// A credible value: a statement about a posterior, without frequentist coverage.
#[derive(Debug, Serialize)]
pub(crate) struct Credible {
    kind: &'static str,
    prior: &'static str,
    credibility: f64,
    pub(crate) epsilon: f64,
}

impl Credible {
    pub(crate) fn new(found: &CredibleInterval) -> Self {
        Credible {
            kind: "credible",
            prior: "independent Jeffreys priors on both rates",
            credibility: 1.0 - found.significance,
            epsilon: found.lower,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct ClaimFields {
    #[serde(flatten)]
    claim: PrivacyClaim,
    pub(crate) verdict: Verdict,
    pub(crate) says: String,
    pub(crate) note: &'static str,
}

impl ClaimFields {
    pub(crate) fn new(
        args: &ClaimArgs,
        outcome: &Outcome,
        subject: Subject,
    ) -> Result<Option<Self>, Failure> {
        let Some(epsilon) = args.claim else { return Ok(None) };
        let delta = args.claim_delta.unwrap_or(outcome.evidence().delta);
        let claim = PrivacyClaim { epsilon, delta, adjacency: args.claim_adjacency.into() };
        claim.check()?;
        let (verdict, says) = match outcome {
            Outcome::Bound(bound) => match claim.verdict(bound)? {
                Verdict::Refuted => (Verdict::Refuted, subject.refutation().to_owned()),
                Verdict::NotRefuted => {
                    let says = "This audit did not find more leakage than was claimed. That \
                                proves nothing about the claim.";
                    (Verdict::NotRefuted, says.to_owned())
                }
            },
            Outcome::Estimate(_) => {
                let says = "The result is an estimate without coverage: it refutes nothing.";
                (Verdict::NotRefuted, says.to_owned())
            }
        };
        let note = claim.adjacency_note();
        Ok(Some(ClaimFields { claim, verdict, says, note }))
    }

    pub(crate) fn claim(&self) -> &PrivacyClaim {
        &self.claim
    }
}

impl Report {
    /// What every report holds; the rest is empty.
    pub(crate) fn new(
        subject: Subject,
        outcome: &Outcome,
        significance: f64,
        seen: Trials,
        claim: &ClaimArgs,
    ) -> Result<Self, Failure> {
        Ok(Report {
            schema: "dpscope.report/1",
            version: env!("CARGO_PKG_VERSION"),
            subject,
            adjacency: Adjacency::ZeroOut,
            result: AuditResult::new(outcome, significance),
            uncorrected_maximum: None,
            theory: None,
            observations: Observations {
                target: seen.target,
                zero_out: seen.zero_out,
                evaluated: outcome.evidence().trials,
                planned: seen.target.saturating_add(seen.zero_out),
            },
            non_finite: Trials { target: 0, zero_out: 0 },
            saturated: None,
            seed: None,
            seed_source: None,
            device: "cpu".to_owned(),
            float_mode: "exact".to_owned(),
            fallback_shards: 0,
            elapsed_ms: 0.0,
            normals_per_second: None,
            histogram_digest: None,
            resumed_from: None,
            score_slope: None,
            credible: None,
            plan: None,
            training: None,
            mechanism: None,
            input: None,
            findings: Vec::new(),
            independence: None,
            shuffle_reach: None,
            claim: ClaimFields::new(claim, outcome, subject)?,
            fail_above: claim.fail_above,
        })
    }

    /// The same report of an attack that was made on negated scores.
    pub(crate) fn reversed(mut self) -> Self {
        self.result = self.result.reversed();
        self.uncorrected_maximum = self.uncorrected_maximum.map(ValueAtCut::reversed);
        self
    }

    /// Prints the report and tells how the program ends.
    pub(crate) fn finish(&self, json: bool) -> Result<Exit, Failure> {
        if json {
            print_json(self)?;
        } else {
            print(&to_text(self))?;
        }
        let refuted = self.claim.as_ref().is_some_and(|claim| claim.verdict == Verdict::Refuted);
        let is_bound = self.result.kind == "bound";
        let above = self.fail_above.is_some_and(|most| is_bound && self.result.epsilon > most);
        Ok(if refuted || above { Exit::Refuted } else { Exit::Done })
    }
}

/// Checks `--claim` and `--fail-above` before any work is done.
pub(crate) fn check_claim(args: &ClaimArgs, delta: f64) -> Result<(), Failure> {
    let adjacency = args.claim_adjacency.into();
    if let Some(epsilon) = args.claim {
        if let Some(claimed) = args.claim_delta.filter(|&claimed| claimed != delta) {
            return Err(ClaimError::Delta { claimed, audited: delta }.into());
        }
        PrivacyClaim { epsilon, delta, adjacency }.check()?;
    }
    match args.fail_above {
        Some(epsilon) if !(epsilon >= 0.0 && epsilon.is_finite()) => Err(Failure::input(format!(
            "--fail-above is {}; it must be a number >= 0",
            given(epsilon)
        ))),
        _ => Ok(()),
    }
}

/// One JSON document on stdout.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::with(Exit::Internal, error))?;
    print(&format!("{text}\n"))
}

/// Text on stdout. A closed pipe is the reader's choice, not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write};
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::with(Exit::Internal, format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// A line on stderr, if that can still be written.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
