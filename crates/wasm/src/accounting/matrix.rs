//! Matrix mechanisms (DP-FTRL).

use dpscope_core::accounting::matrix::MatrixParticipation;
use dpscope_report::record::input::{MatrixParticipationKind, MatrixQuestion};
use dpscope_report::record::{MatrixNoise, MatrixReport, MatrixRequest};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The document of `dpscope bound matrix --json` or `dpscope calibrate matrix --json`; all strategies are
/// compared if none is named.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "MatrixReport")]
pub fn matrix(
    #[wasm_bindgen(unchecked_param_type = "MatrixQuestion")] question: &JsValue,
) -> JsResult {
    to_js(&answered(&read(question, "question")?)?)
}

pub(crate) fn answered(question: &MatrixQuestion) -> Result<MatrixReport, Failure> {
    let &MatrixQuestion { strategy, steps, delta, .. } = question;
    let request = MatrixRequest {
        participation: participation(question)?,
        delta,
        noise: noise(question)?,
        bands: question.bands,
        buffers: question.buffers,
        given_buffers: None,
        objective: question.objective,
        participant_steps: Vec::new(),
    };
    request.participation.check(steps)?;
    let strategies = match strategy {
        Some(kind) => vec![request.built(kind, steps)?],
        None => request.compared(steps)?,
    };
    Ok(request.report(steps, strategies))
}

fn noise(question: &MatrixQuestion) -> Result<MatrixNoise, Failure> {
    match (question.noise_multiplier, question.epsilon) {
        (Some(noise_multiplier), None) => Ok(MatrixNoise::Multiplier(noise_multiplier)),
        (None, Some(epsilon)) => Ok(MatrixNoise::ForEpsilon(epsilon)),
        (None, None) => Err(Failure::missing("noise_multiplier")),
        (Some(_), Some(_)) => Err(Failure::input(
            "epsilon",
            &["has no effect beside a noise multiplier; leave it out"],
        )),
    }
}

fn participation(question: &MatrixQuestion) -> Result<MatrixParticipation, Failure> {
    let given = |field, value: Option<u32>| value.ok_or_else(|| Failure::missing(field));
    Ok(match question.participation {
        MatrixParticipationKind::Single => MatrixParticipation::Single,
        MatrixParticipationKind::Epochs => {
            MatrixParticipation::Epochs { epochs: given("epochs", question.epochs)? }
        }
        MatrixParticipationKind::Shuffled => {
            MatrixParticipation::Shuffled { epochs: given("epochs", question.epochs)? }
        }
        MatrixParticipationKind::MinSeparation => MatrixParticipation::MinSeparation {
            separation: given("separation", question.separation)?,
            participations: question.participations,
        },
        MatrixParticipationKind::CyclicPoisson => MatrixParticipation::CyclicPoisson {
            groups: given("groups", question.groups)?,
            sampling_rate: question
                .sampling_rate
                .ok_or_else(|| Failure::missing("sampling_rate"))?,
        },
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dpscope_report::record::MatrixStrategyKind;

    fn question() -> MatrixQuestion {
        MatrixQuestion {
            strategy: Some(MatrixStrategyKind::Tree),
            steps: 16,
            participation: MatrixParticipationKind::Single,
            epochs: None,
            separation: None,
            participations: None,
            groups: None,
            sampling_rate: None,
            bands: None,
            buffers: None,
            objective: None,
            noise_multiplier: Some(2.0),
            epsilon: None,
            delta: 1e-5,
        }
    }

    pub(crate) fn example() -> MatrixReport {
        answered(&question()).unwrap()
    }

    #[test]
    fn strategies_are_compared_at_one_epsilon() {
        let all = MatrixQuestion {
            strategy: None,
            noise_multiplier: None,
            epsilon: Some(4.0),
            ..question()
        };
        let report = answered(&all).unwrap();
        assert_eq!(report.strategies.len(), 5);
        for record in &report.strategies {
            assert!(record.value.unwrap().account.epsilon <= 4.0, "{record:?}");
        }
    }

    #[test]
    fn failures_name_the_field() {
        use MatrixParticipationKind::{CyclicPoisson, Epochs, MinSeparation};
        let of = |participation| MatrixQuestion { participation, ..question() };
        for (asked, field) in [
            (MatrixQuestion { steps: 0, ..question() }, "steps"),
            (of(Epochs), "epochs"),
            (MatrixQuestion { epochs: Some(3), ..of(Epochs) }, "epochs"),
            (MatrixQuestion { separation: Some(17), ..of(MinSeparation) }, "separation"),
            (MatrixQuestion { groups: Some(4), ..of(CyclicPoisson) }, "sampling_rate"),
            (MatrixQuestion { noise_multiplier: Some(0.0), ..question() }, "noise_multiplier"),
            (MatrixQuestion { epsilon: Some(1.0), ..question() }, "epsilon"),
            (MatrixQuestion { delta: 0.0, ..question() }, "delta"),
        ] {
            assert_eq!(answered(&asked).unwrap_err().field, Some(field));
        }
    }
}
