//! Plans that a page can run.

use dpscope_simulation::{Plan, PlanError, ValidPlan};

use crate::failure::{Failure, FailureKind};

/// Normals per observation: a browser's core draws them in 50 ms.
const MAX_NORMALS: u64 = 10_000_000;

/// A plan that a page can run.
///
/// # Errors
/// More normals per observation than a page can wait for.
pub(crate) fn checked(plan: Plan) -> Result<ValidPlan, Failure> {
    let valid = plan.validated()?;
    let normals = valid.distribution().normals_per_observation();
    if normals > MAX_NORMALS {
        let message = format!(
            "an observation has {normals} normals, and a browser draws at most {MAX_NORMALS}; \
             use fewer steps or epochs, or the command line"
        );
        return Err(Failure { field: Some("steps"), ..Failure::of(FailureKind::Limit, &message) });
    }
    Ok(valid)
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let field = match error {
            PlanError::Observations { .. } | PlanError::SplitObservations { .. } => "observations",
            PlanError::Delta { .. } => "delta",
            PlanError::Significance { .. } => "significance",
            PlanError::Cuts { .. } => "cuts",
            PlanError::Rule => "threshold_rule",
            PlanError::Mechanism(error) => return error.into(),
            _ => return Failure::rejected(&error),
        };
        Failure { field: Some(field), ..Failure::rejected(&error) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use dpscope_core::audit::bound::ThresholdRule;
    use dpscope_core::mechanism::{SamplerKind, SamplerParameter, ThreatModel};
    use dpscope_report::record::input::{AuditPlan, Mechanism};

    use super::*;
    use crate::audits::plan_of;

    pub(crate) fn plan() -> AuditPlan {
        let mechanism = Mechanism {
            noise_multiplier: 1.0,
            steps: 10,
            epochs: 1,
            sampler: SamplerKind::Shuffle,
            threat_model: None,
            batch_size: None,
            buffer_examples: None,
            uses_per_epoch: None,
            dataset_size: None,
            max_batch_size: None,
        };
        AuditPlan {
            mechanism,
            observations: 20_000,
            delta: 1e-5,
            significance: 0.05,
            threshold_rule: None,
            cuts: None,
            seed: Some("7".to_owned()),
        }
    }

    fn with_mechanism(change: fn(&mut Mechanism)) -> AuditPlan {
        let mut changed = plan();
        change(&mut changed.mechanism);
        changed
    }

    #[test]
    fn defaults_are_those_of_the_command_line() {
        let valid = plan_of(plan()).unwrap();
        let found = valid.plan();
        assert_eq!(found.threshold_rule, ThresholdRule::Simultaneous);
        assert_eq!((found.cuts, found.seed), (Plan::DEFAULT_CUTS, 7));
        assert_eq!(found.mechanism.threat_model, ThreatModel::WorstCase);
        let poisson = plan_of(with_mechanism(|m| m.sampler = SamplerKind::Poisson)).unwrap();
        assert_eq!(poisson.plan().mechanism.threat_model, ThreatModel::TargetCanary);
        let fresh = || plan_of(AuditPlan { seed: Some(String::new()), ..plan() }).unwrap();
        assert_ne!(fresh().plan().seed, fresh().plan().seed);
    }

    fn truncated() -> SamplerKind {
        SamplerParameter::MaxBatchSize.samplers().next().unwrap()
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        for (field, invalid) in [
            ("noise_multiplier", with_mechanism(|m| m.noise_multiplier = f64::NAN)),
            ("noise_multiplier", with_mechanism(|m| m.noise_multiplier = 0.0)),
            ("steps", with_mechanism(|m| m.steps = 0)),
            ("epochs", with_mechanism(|m| m.epochs = 0)),
            ("batch_size", with_mechanism(|m| m.batch_size = Some(0))),
            ("buffer_examples", with_mechanism(|m| m.buffer_examples = Some(8))),
            ("max_batch_size", with_mechanism(|m| m.max_batch_size = Some(8))),
            (
                "dataset_size",
                with_mechanism(|m| {
                    (m.sampler, m.max_batch_size) = (truncated(), Some(8));
                }),
            ),
            ("observations", AuditPlan { observations: 3, ..plan() }),
            ("delta", AuditPlan { delta: 0.0, ..plan() }),
            ("significance", AuditPlan { significance: 1.0, ..plan() }),
            ("threshold_rule", AuditPlan { threshold_rule: Some(ThresholdRule::Fixed), ..plan() }),
            ("cuts", AuditPlan { cuts: Some(65), ..plan() }),
            ("seed", AuditPlan { seed: Some("-1".to_owned()), ..plan() }),
        ] {
            let failure = plan_of(invalid).unwrap_err();
            let found = (failure.kind, failure.field);
            assert_eq!(found, (FailureKind::Input, Some(field)), "{}", failure.message);
        }
        let buffered = with_mechanism(|m| {
            m.sampler = SamplerKind::PartialShuffle;
            m.buffer_examples = Some(8);
        });
        assert_eq!(plan_of(buffered).unwrap_err().field, Some("batch_size"));
    }

    #[test]
    fn plans_that_take_too_long_in_a_page_are_rejected() {
        let large = |epochs| {
            let mut large = with_mechanism(|m| m.steps = 100_000);
            large.mechanism.epochs = epochs;
            plan_of(large)
        };
        assert!(large(100).is_ok());
        assert_eq!(large(101).unwrap_err().kind, FailureKind::Limit);
    }
}
