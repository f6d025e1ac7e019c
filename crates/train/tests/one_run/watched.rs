//! Trainings as a person watches them.

use dpscope_core::mechanism::BatchSampler;
use dpscope_engine::{Unattended, UnitRange, Workload};
use dpscope_train::one_run::{OneRunModels, OneRunScore};

use super::{plan, settings, training};

#[test]
fn a_watched_model_is_the_audited_one() {
    for sampler in [BatchSampler::Poisson, BatchSampler::Shuffle, BatchSampler::PersistentShuffle] {
        let training = training(sampler, settings(sampler));
        let models = OneRunModels::new(plan(&training), training, 1).unwrap();
        let range = UnitRange { first: 0, end: 2 };
        let audited = models.compute(&(), range, &Unattended).unwrap().models;
        for unit in [0, 1] {
            let watched = models.watch(unit, 5, &|| true).unwrap();
            let steps: Vec<usize> = watched.iter().map(|look| look.steps).collect();
            assert_eq!(steps, [0, 2, 4, 6, 8, 10]);
            assert_eq!(watched[5].unit, audited[unit as usize]);
            assert_ne!(watched[4].unit, audited[unit as usize], "control: a step is missing");
            for score in OneRunScore::ALL {
                let scores = watched[0].unit.scores(score);
                let is_none = scores.iter().all(|score| score.abs() < 1e-6);
                assert_eq!(is_none, score != OneRunScore::FinalLoss, "{score:?}: {scores:?}");
            }
        }
        assert!(models.watch(0, 5, &|| false).is_err());
    }
}
