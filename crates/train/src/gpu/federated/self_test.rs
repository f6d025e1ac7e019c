//! Self-test of local training: two rounds of clients, step by step beside the CPU.

use dpscope_engine::{Control, GpuError, UnitRange};

use super::super::pipelines::SELF_TEST_MODELS;
use super::super::self_test::{KINK, PARAMETER, ROUNDING, STEPS, distance};
use super::super::wave::Waves;
use super::rows::LocalRows;
use crate::federated::{FederatedTraining, LocalTrainer, Participant};

/// Rounds: the second starts from other parameters than the device left behind.
const ROUNDS: usize = 2;

/// Compares the first steps of some clients with the CPU, each step from the device's own parameters
/// and the first from those that were written: the parameters must be equal within rounding.
pub(super) async fn check(
    waves: &mut Waves,
    training: &FederatedTraining,
    control: &dyn Control,
) -> Result<(), GpuError> {
    let models = SELF_TEST_MODELS.min(waves.pipelines.max_units);
    let mut local = LocalTrainer::new(training);
    let mut before = training.initial().repeat(models as usize);
    for round in 0..ROUNDS {
        let participant = |model: u64| {
            let client = (round as u64 * models + model) % training.clients().len() as u64;
            Participant { unit: 0, round, client: client as u32 }
        };
        let participants: Vec<Participant> = (0..models).map(participant).collect();
        let mut wave = waves.begin(UnitRange { first: 0, end: models }, control).await?;
        wave.write_parameters(&before).await?;
        let mut rows = LocalRows::new(training, &wave.pipelines.plan, &participants);
        for step in 0..STEPS {
            if !rows.next() {
                break;
            }
            wave.step(&rows, 0, 0).await?;
            let after = wave.parameters(0, models).await?;
            let count = training.parameters();
            let pairs = before.chunks_exact(count).zip(after.chunks_exact(count));
            for (model, (before, found)) in pairs.enumerate() {
                let batch = rows.batch(model);
                let what = difference(&mut local, batch, (before, found));
                what.map_or(Ok(()), |what| {
                    Err(GpuError::Unfit(format!(
                        "self-test: client {model}, round {round}, step {step}: {what}"
                    )))
                })?;
            }
            before = after;
        }
        // what the device left behind is of no use to the next round
        for (model, parameters) in before.chunks_exact_mut(training.parameters()).enumerate() {
            let scale = 0.5 + model as f32 / 4.0;
            let entries = parameters.iter_mut().zip(training.initial());
            entries.for_each(|(parameter, initial)| *parameter = scale * initial);
        }
    }
    Ok(())
}

/// How the step of a client differs from the CPU's, if it does.
fn difference(
    local: &mut LocalTrainer<'_>,
    batch: &[u32],
    (before, found): (&[f32], &[f32]),
) -> Option<String> {
    let mut expected = before.to_vec();
    let kink = if batch.is_empty() { 0.0 } else { KINK * local.step(batch, &mut expected) };
    if !expected.iter().all(|parameter| parameter.is_finite()) {
        let is_lost = found.iter().any(|parameter| !parameter.is_finite());
        return (!is_lost).then(|| "it diverges on the CPU only".to_owned());
    }
    let rate = if batch.is_empty() { 0.0 } else { local.rate(batch.len()) };
    let length = distance(&vec![0.0; expected.len()], &expected);
    let tolerance = ROUNDING * distance(before, &expected) + kink * rate + PARAMETER * length;
    let away = distance(found, &expected);
    (!(away <= tolerance))
        .then(|| format!("the parameters differ by {away:e} from the CPU, more than {tolerance:e}"))
}
