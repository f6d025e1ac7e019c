//! The plan of a page.

use dpscope_report::record::input::PateGanQuestion;
use dpscope_synth::audit::AuditError;
use dpscope_synth::mechanism::MechanismError;
use dpscope_synth::workload::{PateGanPlan, PlanError};
use dpscope_synth::{Settings, SettingsError, Stop};

use crate::failure::{Failure, FailureKind};
use crate::seed::seed_or_fresh;

/// As that of `dpscope audit pategan`.
const CHECKS_SIGNIFICANCE: f64 = 1e-3;
/// As that of `--epsilon`.
const MOST_ITERATIONS: u32 = 10_000;
/// Rows that pass through a network in all runs: minutes of one worker.
const MOST_ROWS: u64 = 4_000_000_000;

/// The plan of a page.
///
/// # Errors
/// The first field outside its domain.
pub(super) fn plan_of(asked: &PateGanQuestion) -> Result<PateGanPlan, Failure> {
    let stop = match (asked.iterations, asked.epsilon) {
        (Some(iterations), None) => Stop::Iterations(iterations),
        (None, Some(epsilon)) if epsilon > 0.0 && epsilon.is_finite() => {
            Stop::Epsilon { epsilon, at_most: MOST_ITERATIONS }
        }
        (None, Some(epsilon)) => {
            return Err(Failure::outside("epsilon", epsilon, "a finite number above 0"));
        }
        _ => return Err(Failure::input("iterations", &["or epsilon must be stated, not both"])),
    };
    checked(PateGanPlan {
        settings: Settings {
            teachers: asked.teachers,
            inverse_scale: asked.gamma,
            batch_size: asked.batch_size,
            stop,
            delta: asked.delta,
            ..Settings::worst_case()
        },
        faults: asked.faults.parse().map_err(|error| in_field("faults", &error))?,
        table: None,
        runs: asked.runs,
        significance: asked.significance,
        checks_significance: CHECKS_SIGNIFICANCE,
        seed: seed_or_fresh(&asked.seed)?,
    })
}

/// A plan of the worst case that a page can run.
///
/// # Errors
/// As [`plan_of`].
pub(super) fn checked(plan: PateGanPlan) -> Result<PateGanPlan, Failure> {
    plan.check_fields().map_err(|error| match error {
        PlanError::Settings(error) => of_settings(error),
        PlanError::Runs { .. } => in_field("runs", &error),
        error => Failure::rejected(&error),
    })?;
    let settings = &plan.settings;
    let spending = settings.plan().map_err(of_settings)?;
    let steps = u64::from(settings.teacher_steps) * u64::from(settings.teachers)
        + 2 * u64::from(settings.student_steps);
    let rows = [spending.iterations.into(), settings.batch_size.into(), steps, 2 * plan.runs];
    if rows.into_iter().fold(1, u64::saturating_mul) > MOST_ROWS {
        let message = "so many runs take too long in a browser; use fewer runs or iterations, smaller \
                       batches or fewer teachers, or the program, which has no such limit";
        return Err(Failure { field: Some("runs"), ..Failure::of(FailureKind::Limit, message) });
    }
    Ok(plan)
}

fn of_settings(error: SettingsError) -> Failure {
    match error {
        SettingsError::Accounting(error) => error.into(),
        SettingsError::FirstIteration { .. } => {
            let advice = "; use a larger ε, a smaller γ or smaller batches";
            let message = format!("{error}{advice}");
            Failure { field: Some("epsilon"), ..Failure::of(FailureKind::Input, &message) }
        }
        SettingsError::Number { name, .. } => in_field(name, &error),
        error => Failure::rejected(&error),
    }
}

/// Why there is no audit, in terms of the page.
pub(super) fn of_audit(error: &AuditError) -> Failure {
    match error {
        AuditError::Mechanism(MechanismError::NoEpsilon { .. }) => {
            let message = format!("{error}; let the training end at an ε, or switch the fault off");
            Failure { field: Some("faults"), ..Failure::of(FailureKind::Input, &message) }
        }
        AuditError::Accounting(error) => error.clone().into(),
        error => Failure::rejected(error),
    }
}

fn in_field(field: &'static str, error: &impl std::fmt::Display) -> Failure {
    Failure { field: Some(field), ..Failure::rejected(error) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::synth) fn asked() -> PateGanQuestion {
        PateGanQuestion {
            faults: "U1,U3".to_owned(),
            teachers: 2,
            gamma: 1e-3,
            batch_size: 4,
            iterations: Some(3),
            epsilon: None,
            runs: 40,
            delta: 1e-5,
            significance: 0.05,
            seed: "7".to_owned(),
        }
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        let stops = |epsilon| PateGanQuestion { iterations: None, epsilon, ..asked() };
        for (field, asked) in [
            ("faults", PateGanQuestion { faults: "U9".to_owned(), ..asked() }),
            ("teachers", PateGanQuestion { teachers: 0, ..asked() }),
            ("gamma", PateGanQuestion { gamma: f64::NAN, ..asked() }),
            ("batch_size", PateGanQuestion { batch_size: 0, ..asked() }),
            ("iterations", stops(None)),
            ("iterations", PateGanQuestion { epsilon: Some(1.0), ..asked() }),
            ("epsilon", stops(Some(0.0))),
            ("epsilon", stops(Some(1e-9))),
            ("runs", PateGanQuestion { runs: 19, ..asked() }),
            ("delta", PateGanQuestion { delta: 0.0, ..asked() }),
            ("seed", PateGanQuestion { seed: "-1".to_owned(), ..asked() }),
        ] {
            let failure = plan_of(&asked).unwrap_err();
            assert_eq!(failure.field, Some(field), "{}", failure.message);
        }
        assert!(plan_of(&stops(Some(1.0))).is_ok());
    }

    #[test]
    fn plans_that_take_too_long_in_a_page_are_rejected() {
        let large = PateGanQuestion { iterations: Some(1_000_000), runs: 10_000, ..asked() };
        assert_eq!(plan_of(&large).unwrap_err().kind, FailureKind::Limit);
    }
}
