//! What differs between settings or attacks, with errors.

use dpscope_report::record::{FedAvgExperiment, MeanDifference, MeanEstimate};
use dpscope_train::federated::FederatedAttack::{FinalModel, KnownRounds, LargestUpdate};

use super::audits::Audits;
use crate::failure::Failure;

/// The comparisons of an experiment.
pub(super) fn of(
    what: FedAvgExperiment,
    settings: &[Audits<'_>],
) -> Result<Vec<MeanDifference>, Failure> {
    match what {
        FedAvgExperiment::FinalVsAll => {
            let largest = |one: &Audits<'_>| {
                let pair = [one.bounds(LargestUpdate)?, one.bounds(FinalModel)?];
                Ok(paired(one, "bound of the largest update", "of the final model", pair))
            };
            let known = |one: &Audits<'_>| {
                let pair = [one.bounds(KnownRounds)?, one.bounds(LargestUpdate)?];
                Ok(paired(one, "bound of known rounds", "of the largest update", pair))
            };
            settings.iter().map(known).chain(settings.iter().map(largest)).collect()
        }
        FedAvgExperiment::Presentations => {
            let of = |pair: &[Audits<'_>]| {
                let means = [&pair[1], &pair[0]].map(|one| one.estimates(FinalModel));
                let [more, fewer] = means;
                let difference = MeanEstimate::of(&more?).less(MeanEstimate::of(&fewer?));
                let second = format!("with {}", pair[0].setting.name);
                let first = "estimate from the final model";
                Ok(MeanDifference::new(
                    (&pair[1].setting.name, pair[1].runs()),
                    first,
                    &second,
                    difference,
                ))
            };
            settings.windows(2).map(of).collect()
        }
        FedAvgExperiment::OneOrTenRuns => {
            let [one, ten] = settings else { return Ok(Vec::new()) };
            let compared = |quantity: &str, [first, second]: [Vec<f64>; 2]| {
                let difference = MeanEstimate::of(&first).less(MeanEstimate::of(&second));
                let second = format!("with {}", one.setting.name);
                MeanDifference::new((&ten.setting.name, ten.runs()), quantity, &second, difference)
            };
            let bounds = [ten.bounds(FinalModel)?, one.bounds(FinalModel)?];
            let estimates = [ten.estimates(FinalModel)?, one.estimates(FinalModel)?];
            Ok(vec![
                compared("bound of the final model", bounds),
                compared("estimate from the final model", estimates),
            ])
        }
        FedAvgExperiment::Utility => {
            let of = |one: &Audits<'_>| {
                let [with, without] = [true, false].map(|has| {
                    let shares: Vec<f64> =
                        one.accuracies(has).iter().map(|share| 100.0 * share).collect();
                    MeanEstimate::of(&shares)
                });
                let (first, second) = ("accuracy in % with canaries", "without canaries");
                MeanDifference::new(
                    (&one.setting.name, one.runs()),
                    first,
                    second,
                    with.less(without),
                )
            };
            Ok(settings.iter().map(of).collect())
        }
        FedAvgExperiment::Gaussianity => Ok(Vec::new()),
    }
}

/// Two quantities of the same trainings.
fn paired(one: &Audits<'_>, first: &str, second: &str, pair: [Vec<f64>; 2]) -> MeanDifference {
    let changes: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| a - b).collect();
    MeanDifference::new((&one.setting.name, one.runs()), first, second, MeanEstimate::of(&changes))
}
