//! Plans of runs.

use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::planner::PlannedAudit;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::mechanism::{BatchedGaussian, ScoreDistribution};
use dpscope_engine::{Evidence, differing_fields, sha256};
use dpscope_shaders::LANES;
use serde::{Deserialize, Serialize};

use crate::digest::TrainingDigest;
use crate::{Layout, PlanError, TwoWorlds, decimal};

/// Everything that determines the counts of a run: two runs of one plan have the same counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The mechanism and its attacker.
    pub mechanism: BatchedGaussian,
    /// Observations of both worlds together; even.
    pub observations: u64,
    /// δ of the statement, in (0, 1).
    pub delta: f64,
    /// Probability that the bound is wrong, in (0, 1).
    pub significance: f64,
    /// How the threshold is chosen.
    pub threshold_rule: ThresholdRule,
    /// Maximum number of cuts of the simultaneous rule.
    pub cuts: u32,
    /// Seed of every random word, below 2⁵³.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// The training whose runs are observed; `None` if the mechanism itself is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingDigest>,
}

impl Plan {
    /// Default number of cuts of the simultaneous rule.
    pub const DEFAULT_CUTS: u32 = PlannedAudit::DEFAULT_CUTS;

    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn validated(self) -> Result<ValidPlan, PlanError> {
        let Plan { observations, delta, significance, cuts, seed, .. } = self;
        if !(2..=1 << 53).contains(&observations) || observations % 2 != 0 {
            return Err(PlanError::Observations { observations });
        }
        if observations < 4 && self.threshold_rule == ThresholdRule::Split {
            return Err(PlanError::SplitObservations { observations });
        }
        if !(delta > 0.0 && delta < 1.0) {
            return Err(PlanError::Delta { delta });
        }
        if !(significance > 0.0 && significance < 1.0) {
            return Err(PlanError::Significance { significance });
        }
        if !(1..=64).contains(&cuts) {
            return Err(PlanError::Cuts { cuts });
        }
        if seed >= 1 << 53 {
            return Err(PlanError::Seed { seed });
        }
        if self.threshold_rule == ThresholdRule::Fixed {
            return Err(PlanError::Rule);
        }
        Ok(ValidPlan { plan: self, distribution: self.mechanism.distribution()? })
    }

    /// Observations of one world.
    #[must_use]
    pub fn observations_per_world(&self) -> u64 {
        self.observations / 2
    }

    /// Observations of each world that the rule evaluates in a complete run.
    #[must_use]
    pub fn evaluated(&self) -> Trials {
        let per_world = match self.threshold_rule {
            ThresholdRule::Split => self.observations_per_world() / 2,
            _ => self.observations_per_world(),
        };
        Trials { target: per_world, zero_out: per_world }
    }

    /// SHA-256 of the plan's JSON, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        sha256(self)
    }

    /// Every field as JSON, by name.
    fn fields(&self) -> [(&'static str, String); 14] {
        let Plan {
            mechanism,
            observations,
            delta,
            significance,
            threshold_rule,
            cuts,
            seed,
            training,
        } = self;
        let BatchedGaussian {
            noise_multiplier,
            steps_per_epoch,
            epochs,
            sampler,
            threat_model,
            batch_size,
            dataset_size,
        } = mechanism;
        [
            ("cuts", json(cuts)),
            ("delta", json(delta)),
            ("mechanism.batch_size", json(batch_size)),
            ("mechanism.dataset_size", json(dataset_size)),
            ("mechanism.epochs", json(epochs)),
            ("mechanism.noise_multiplier", json(noise_multiplier)),
            ("mechanism.sampler", json(sampler)),
            ("mechanism.steps_per_epoch", json(steps_per_epoch)),
            ("mechanism.threat_model", json(threat_model)),
            ("observations", json(observations)),
            ("seed", format!("\"{seed}\"")),
            ("significance", json(significance)),
            ("threshold_rule", json(threshold_rule)),
            ("training", json(training)),
        ]
    }
}

impl dpscope_engine::Plan for Plan {
    const SCHEMA: &'static str = "dpscope.histograms/1";
    /// [`MAX_BINS`](dpscope_core::audit::histogram::MAX_BINS) bins, two worlds, two halves, 21
    /// characters per count, and the other fields.
    const MAX_BYTES: usize = 16 << 20;
    const RESULTS_PER_UNIT: u64 = 2;
    type Stage = Layout;
    type Evidence = TwoWorlds;

    fn units(&self) -> u64 {
        self.observations_per_world()
    }

    fn group(&self) -> u64 {
        if self.training.is_some() { 1 } else { LANES as u64 }
    }

    fn named(ranges: &str) -> String {
        format!("observations {ranges} of each world")
    }

    fn empty(&self, layout: &Layout) -> TwoWorlds {
        AuditHistograms::empty(&layout.bins).into()
    }

    fn differences(&self, other: &Plan) -> String {
        differing_fields(self.fields(), other.fields())
    }

    fn check(&self, layout: &Layout, evidence: &TwoWorlds, units: u64) -> Result<(), &'static str> {
        let TwoWorlds { histograms, training } = evidence;
        if self.validated().is_err() {
            return Err("its plan is invalid");
        }
        if !layout.fits(self.threshold_rule, self.cuts) {
            return Err(
                "its thresholds are not finite, ascending and within the limit of its rule",
            );
        }
        if !histograms.fits(&layout.bins) {
            return Err("its histograms do not match the bins of its layout");
        }
        if !evidence.is_of(units) {
            return Err("its totals do not match its counted ranges");
        }
        let fits = match (self.training, training) {
            (Some(digest), Some(training)) => training.fits(digest),
            (digest, training) => digest.is_none() && training.is_none(),
        };
        if fits { Ok(()) } else { Err("its training does not match its plan") }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A valid plan with the distribution of its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidPlan {
    plan: Plan,
    distribution: ScoreDistribution,
}

impl ValidPlan {
    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The distribution of its scores.
    #[must_use]
    pub fn distribution(&self) -> &ScoreDistribution {
        &self.distribution
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dpscope_core::mechanism::{BatchSampler, ThreatModel};
    use dpscope_engine::{Plan as _, Shard};

    use super::*;
    use crate::Evaluate;
    use crate::workload::tests::counted;

    pub(crate) fn plan() -> Plan {
        Plan {
            mechanism: BatchedGaussian {
                noise_multiplier: 1.0,
                steps_per_epoch: 10,
                epochs: 1,
                sampler: BatchSampler::Shuffle,
                threat_model: ThreatModel::WorstCase,
                batch_size: None,
                dataset_size: None,
            },
            observations: 20_000,
            delta: 1e-5,
            significance: 0.05,
            threshold_rule: ThresholdRule::Simultaneous,
            cuts: Plan::DEFAULT_CUTS,
            seed: 7,
            training: None,
        }
    }

    #[test]
    fn plans_round_trip_through_json_and_hashes_differ() {
        let json = serde_json::to_string(&plan()).unwrap();
        assert!(json.contains(r#""seed":"7""#), "{json}");
        let back: Plan = serde_json::from_str(&json).unwrap();
        assert_eq!((back, back.hash()), (plan(), plan().hash()));
        let other = Plan { seed: 8, ..plan() };
        assert_ne!(other.hash(), plan().hash());
        assert_eq!(plan().differences(&other), r#"seed: "7" here, "8" there"#);
    }

    #[test]
    fn fields_outside_their_domain_are_refused() {
        let refused = [
            Plan { observations: 0, ..plan() },
            Plan { observations: 3, ..plan() },
            Plan { observations: 2, threshold_rule: ThresholdRule::Split, ..plan() },
            Plan { delta: 0.0, ..plan() },
            Plan { delta: f64::NAN, ..plan() },
            Plan { significance: 1.0, ..plan() },
            Plan { cuts: 0, ..plan() },
            Plan { seed: 1 << 53, ..plan() },
            Plan { threshold_rule: ThresholdRule::Fixed, ..plan() },
        ];
        for plan in refused {
            assert!(plan.validated().is_err(), "{plan:?}");
        }
    }

    #[test]
    fn each_rule_evaluates_its_smallest_plan() {
        use ThresholdRule::{MaxUncorrected, Simultaneous, Split};
        for (threshold_rule, observations) in [(Split, 4), (Simultaneous, 2), (MaxUncorrected, 2)] {
            let smallest = Plan { threshold_rule, observations, ..plan() };
            let state = counted(smallest, Shard::WHOLE, 1);
            let outcome = state.outcome().unwrap();
            assert_eq!(outcome.evidence().trials, smallest.evaluated());
        }
    }
}
