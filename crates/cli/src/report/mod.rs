//! What a run found, as one document: printed as JSON or told in words.

mod beside;
mod sentences;
mod simulation;
mod table;
mod text;

pub(crate) use beside::Beside;
pub(crate) use sentences::{InWords, plain, scientific};
pub(crate) use simulation::{RunFacts, of_artefact};
pub(crate) use table::{Align, table};
use text::to_text;
pub(crate) use text::{counted, grouped, percent, row, short};

use dpscope_core::adjacency::{Adjacency, Direction};
use dpscope_core::audit::{Outcome, ScoreSlope};
use dpscope_core::bayesian::CredibleInterval;
use dpscope_core::bound::{EpsilonEstimate, Evidence, Scope, ThresholdRule};
use dpscope_core::claim::{ClaimError, PrivacyClaim, Verdict};
use dpscope_core::gdp::gdp_mu_lower_bound;
use dpscope_core::mechanism::BatchedGaussian;
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
    pub(crate) result: ResultFields,
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
    /// What was assumed of the runs that were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mechanism: Option<BatchedGaussian>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<serde_json::Value>,
    pub(crate) findings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) independence: Option<crate::commands::Independence>,
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

#[derive(Debug, Serialize)]
pub(crate) struct ResultFields {
    pub(crate) kind: &'static str,
    pub(crate) epsilon: f64,
    pub(crate) delta: f64,
    pub(crate) significance: f64,
    pub(crate) tail_per_rate: f64,
    pub(crate) threshold_rule: ThresholdRule,
    pub(crate) cuts: u32,
    /// None where it is not a finite number: unknown, or below every score.
    pub(crate) threshold: Option<f64>,
    /// On which side of the threshold the attack decides for the target's world.
    pub(crate) target_if_score: &'static str,
    pub(crate) direction: Direction,
    pub(crate) scope: Scope,
    pub(crate) false_positives: u64,
    pub(crate) false_negatives: u64,
    pub(crate) fpr_upper: f64,
    pub(crate) fnr_upper: f64,
    /// A bound where the result is one; none for an estimate.
    pub(crate) gdp_mu: Option<f64>,
    pub(crate) ceiling: f64,
    pub(crate) events_at_threshold: u64,
    pub(crate) gain_at_10x: f64,
    pub(crate) limited_by_observations: bool,
}

impl ResultFields {
    pub(crate) fn new(outcome: &Outcome, significance: f64) -> Result<Self, Failure> {
        let kind = match outcome {
            Outcome::Bound(_) => "bound",
            Outcome::Estimate(_) => "estimate",
        };
        let Evidence {
            delta,
            tail_per_rate,
            threshold_rule,
            cuts,
            threshold,
            trials: _,
            errors,
            fpr_upper,
            fnr_upper,
            direction,
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
        } = *outcome.evidence();
        Ok(ResultFields {
            kind,
            epsilon: outcome.value(),
            delta,
            significance,
            tail_per_rate,
            threshold_rule,
            cuts,
            threshold: threshold.is_finite().then_some(threshold),
            target_if_score: "above",
            direction,
            scope: Scope::Pair,
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
            fpr_upper,
            fnr_upper,
            gdp_mu: match outcome {
                Outcome::Bound(_) => {
                    Some(gdp_mu_lower_bound(fpr_upper, fnr_upper).map_err(Failure::input)?)
                }
                Outcome::Estimate(_) => None,
            },
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
        })
    }
}

/// An estimate and where it was found.
#[derive(Debug, Serialize)]
pub(crate) struct ValueAtCut {
    kind: &'static str,
    pub(crate) epsilon: f64,
    threshold: Option<f64>,
    false_positives: u64,
    false_negatives: u64,
}

impl From<EpsilonEstimate> for ValueAtCut {
    fn from(estimate: EpsilonEstimate) -> Self {
        let Evidence { threshold, errors, .. } = *estimate.evidence();
        ValueAtCut {
            kind: "estimate",
            epsilon: estimate.value(),
            threshold: threshold.is_finite().then_some(threshold),
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
        }
    }
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
            result: ResultFields::new(outcome, significance)?,
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
            mechanism: None,
            input: None,
            findings: Vec::new(),
            independence: None,
            claim: ClaimFields::new(claim, outcome, subject)?,
            fail_above: claim.fail_above,
        })
    }

    /// The same report of an attack that was made on negated scores.
    pub(crate) fn reversed(mut self) -> Self {
        let negate = |threshold: Option<f64>| threshold.map(|t| 0.0 - t);
        self.result.threshold = negate(self.result.threshold);
        self.result.target_if_score = "below";
        if let Some(maximum) = &mut self.uncorrected_maximum {
            maximum.threshold = negate(maximum.threshold);
        }
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
        Some(epsilon) if !(epsilon >= 0.0 && epsilon.is_finite()) => {
            Err(Failure::input(format!("--fail-above is {epsilon}; it must be a number >= 0")))
        }
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
