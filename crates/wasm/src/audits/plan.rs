//! What a page asks for, as a plan of the engine.

use dpscope_engine::{Plan, PlanError, ValidPlan};

use crate::failure::{Failure, FailureKind};
use crate::found::rule_of;
use crate::mechanism::{mechanism, small};
use crate::record::Record;
use crate::seed::seed_or_fresh;

/// Most normals of an observation: a browser's core draws them in a twentieth of a second.
const MOST_NORMALS: u64 = 10_000_000;

/// Fields of a plan; all but the last six are needed.
pub(crate) const FIELDS: [&str; 13] = [
    "noise_multiplier",
    "steps",
    "epochs",
    "sampler",
    "observations",
    "delta",
    "significance",
    "threat_model",
    "batch_size",
    "buffer_examples",
    "threshold_rule",
    "cuts",
    "seed",
];

/// The plan of a page; what is left out is as on the command line.
///
/// # Errors
/// The first field outside its domain; more normals an observation than a page can wait for.
pub(super) fn plan_of(given: &Record) -> Result<ValidPlan, Failure> {
    let cuts = given.whole("cuts", 0)?.map(|cuts| small("cuts", cuts)).transpose()?;
    let plan = Plan {
        mechanism: mechanism(given)?,
        observations: given.needed_whole("observations", 0)?,
        delta: given.needed_number("delta")?,
        significance: given.needed_number("significance")?,
        threshold_rule: rule_of(given)?,
        cuts: cuts.unwrap_or(Plan::DEFAULT_CUTS),
        seed: seed_or_fresh(given.text("seed")?.unwrap_or_default())?,
        training: None,
    };
    checked(plan)
}

/// A plan that a page can run.
///
/// # Errors
/// As [`plan_of`].
pub(super) fn checked(plan: Plan) -> Result<ValidPlan, Failure> {
    let valid = plan.validated()?;
    let normals = valid.distribution().normals_per_observation();
    if normals > MOST_NORMALS {
        let message = format!(
            "an observation has {normals} normals, and a browser draws at most {MOST_NORMALS}; \
             give fewer steps or epochs, or use the command line"
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
            PlanError::Mechanism(error) => return error.into(),
            _ => return Failure::refused(&error),
        };
        Failure { field: Some(field), ..Failure::refused(&error) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use dpscope_core::audit::bound::ThresholdRule;
    use dpscope_core::mechanism::ThreatModel;

    use super::*;
    use crate::record::Value;

    pub(in crate::audits) fn record(changes: &[(&'static str, Value)]) -> Record {
        let mut fields = vec![
            ("noise_multiplier", Value::Number(1.0)),
            ("steps", Value::Number(10.0)),
            ("epochs", Value::Number(1.0)),
            ("sampler", Value::Text("shuffle".to_owned())),
            ("observations", Value::Number(20_000.0)),
            ("delta", Value::Number(1e-5)),
            ("significance", Value::Number(0.05)),
            ("seed", Value::Text("7".to_owned())),
        ];
        for change in changes {
            fields.retain(|(name, _)| *name != change.0);
            fields.push(change.clone());
        }
        Record::of(&fields, &FIELDS).unwrap()
    }

    #[test]
    fn what_is_left_out_is_as_on_the_command_line() {
        let valid = plan_of(&record(&[])).unwrap();
        let plan = valid.plan();
        assert_eq!(plan.threshold_rule, ThresholdRule::Simultaneous);
        assert_eq!((plan.cuts, plan.seed), (Plan::DEFAULT_CUTS, 7));
        assert_eq!(plan.mechanism.threat_model, ThreatModel::WorstCase);
        let poisson = plan_of(&record(&[("sampler", Value::Text("poisson".to_owned()))])).unwrap();
        assert_eq!(poisson.plan().mechanism.threat_model, ThreatModel::TargetCanary);
        let fresh = || plan_of(&record(&[("seed", Value::Text(String::new()))])).unwrap();
        assert_ne!(fresh().plan().seed, fresh().plan().seed);
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        let number = |value: f64| Value::Number(value);
        let text = |name: &str| Value::Text(name.to_owned());
        for (field, value) in [
            ("noise_multiplier", number(f64::NAN)),
            ("noise_multiplier", number(0.0)),
            ("noise_multiplier", text("1")),
            ("steps", number(0.0)),
            ("steps", number(1.5)),
            ("steps", number(1e10)),
            ("epochs", number(-1.0)),
            ("sampler", text("shuffled")),
            ("threat_model", text("nobody")),
            ("threshold_rule", text("fixed")),
            ("observations", number(3.0)),
            ("observations", number(f64::INFINITY)),
            ("delta", number(0.0)),
            ("significance", number(1.0)),
            ("cuts", number(65.0)),
            ("seed", text("-1")),
            ("seed", number(7.0)),
            ("buffer_examples", number(8.0)),
            ("batch_size", number(0.0)),
        ] {
            let failure = plan_of(&record(&[(field, value)])).unwrap_err();
            let found = (failure.kind, failure.field);
            assert_eq!(found, (FailureKind::Input, Some(field)), "{}", failure.message);
        }
        let buffered = [("sampler", text("partial-shuffle")), ("buffer_examples", number(8.0))];
        let missing = plan_of(&record(&buffered)).unwrap_err();
        assert_eq!(missing.field, Some("batch_size"));
    }

    #[test]
    fn more_than_a_page_can_wait_for_is_refused() {
        let large = |steps, epochs| {
            let changes = [("steps", Value::Number(steps)), ("epochs", Value::Number(epochs))];
            plan_of(&record(&changes))
        };
        assert!(large(100_000.0, 100.0).is_ok());
        assert_eq!(large(100_000.0, 101.0).unwrap_err().kind, FailureKind::Limit);
    }
}
