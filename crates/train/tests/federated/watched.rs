//! Trainings as a person watches them.

use dpscope_engine::Shard;

use super::{models, settings, trained};

#[test]
fn a_watched_model_is_the_audited_one() {
    let models = models(settings(), 6.0, 1);
    let audited = trained(&models, Shard::WHOLE).evidence.models;
    for unit in [0, 1] {
        let watched = models.watch(unit, 2, &|| true).unwrap();
        let rounds: Vec<usize> = watched.iter().map(|look| look.rounds).collect();
        assert_eq!(rounds, [2, 4]);
        assert_eq!(watched[1].unit, audited[unit as usize]);
        let [before, last] = [0, 1].map(|look: usize| &watched[look].unit.final_model);
        assert_eq!(before.len(), last.len());
        assert_ne!(before, last, "control: a round is missing");
    }
    assert!(models.watch(0, 2, &|| false).is_err());
}
