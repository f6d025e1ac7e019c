use super::*;
use crate::random::{Purpose, Words};
use crate::special::normal;

const LEVEL: f64 = 1e-3;

const CANARY: OutputModel = OutputModel {
    other_mean: 0.0,
    contrast: 1.0,
    zero_out_share: 0.0,
    noise_multiplier: 0.3,
    uses: 1.0,
};

const INFORMED: OutputModel =
    OutputModel { other_mean: -1.0, contrast: 2.0, zero_out_share: 0.5, ..CANARY };

fn all_placements(steps: u32, with_epochs: bool) -> Vec<Placement> {
    let mut all = vec![Placement::Poisson, Placement::Shuffle, Placement::FixedStep];
    all.extend(with_epochs.then_some(Placement::PersistentShuffle));
    all.extend([2, steps / 2].map(|batches| Placement::FirstBatches { batches }));
    all
}

/// Runs of both worlds.
struct Recording {
    steps: usize,
    epochs: usize,
    worlds: [Vec<f64>; 2],
}

impl Recording {
    /// `runs` of each world; `drift` is added to the outputs of each step of an epoch.
    fn draw(
        model: &OutputModel,
        placement: Placement,
        (runs, epochs, steps): (usize, usize, usize),
        seed: u64,
        drift: fn(usize) -> f64,
    ) -> Self {
        let mut words = Words::new(14, Purpose::Test, seed);
        let mut uniform = || (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
        let fixed = (uniform() * steps as f64) as usize;
        let shares = [1.0, model.zero_out_share];
        let worlds = shares.map(|share| {
            let mut outputs = Vec::new();
            for _ in 0..runs {
                let of_run = (uniform() * steps as f64) as usize;
                for _ in 0..epochs {
                    let reach = match placement {
                        Placement::FirstBatches { batches } => f64::from(batches),
                        _ => steps as f64,
                    };
                    let place = match placement {
                        Placement::FixedStep => fixed,
                        Placement::PersistentShuffle => of_run,
                        _ => (uniform() * reach) as usize,
                    };
                    for step in 0..steps {
                        let is_used = match placement {
                            Placement::Poisson => uniform() * (steps as f64) < 1.0,
                            _ => step == place,
                        };
                        let own = if is_used { share * model.contrast } else { 0.0 };
                        let noise = model.noise_multiplier * normal::quantile(uniform());
                        outputs.push(model.other_mean + drift(step) + own + noise);
                    }
                }
            }
            outputs
        });
        Recording { steps, epochs, worlds }
    }

    fn evidence(&self, model: &OutputModel) -> SamplerEvidence {
        let [target, zero_out] = &self.worlds;
        let view = |values| RecordedRuns::new(values, self.epochs, self.steps).unwrap();
        let placements = all_placements(self.steps as u32, self.epochs > 1);
        let rate = 1.0 / self.steps as f64;
        let candidates = PlacementCandidates { placements: &placements, rate, weights: &[] };
        SamplerEvidence::of(view(target), view(zero_out), model, candidates).unwrap()
    }
}

fn no_drift(_: usize) -> f64 {
    0.0
}

fn drift(step: usize) -> f64 {
    2.0 - 0.1 * step as f64
}

/// Every placement of four epochs of a shuffle, without noise: as many as there are sets of steps, with
/// their chances.
fn shuffles(steps: usize) -> Vec<(f64, [usize; 4])> {
    let mut all = Vec::new();
    let chance = 1.0 / (steps * steps * steps * steps) as f64;
    for a in 0..steps {
        for b in a..steps {
            for c in b..steps {
                for d in c..steps {
                    let places = [a, b, c, d];
                    let times =
                        places.map(|p| places.iter().filter(|other| **other == p).count() as f64);
                    // 4! ÷ the factorials of the multiplicities
                    let mut orders = 24.0;
                    for (index, place) in places.iter().enumerate() {
                        if places[..index].iter().all(|earlier| earlier != place) {
                            orders /= (1..=times[index] as usize).product::<usize>() as f64;
                        }
                    }
                    all.push((chance * orders, places));
                }
            }
        }
    }
    assert!((all.iter().map(|(chance, _)| chance).sum::<f64>() - 1.0).abs() < 1e-12);
    all
}

/// The exact chance that a shuffle of four runs over twelve steps is refuted, at a threshold that depends
/// on the number of candidates. The noise is small beside the target, so that it decides nothing.
fn chance_of_refutation(model: &OutputModel, needed: fn(f64) -> f64) -> f64 {
    const STEPS: usize = 12;
    let zero_out = vec![0.0; 8 * STEPS];
    let placements = [
        Placement::Shuffle,
        Placement::Poisson,
        Placement::FixedStep,
        Placement::FirstBatches { batches: 2 },
    ];
    let candidates =
        PlacementCandidates { placements: &placements, rate: 1.0 / STEPS as f64, weights: &[] };
    let mut refuted = 0.0;
    for (chance, places) in shuffles(STEPS) {
        let mut target = vec![0.0; 4 * STEPS];
        for (run, place) in places.into_iter().enumerate() {
            target[run * STEPS + place] = 1.0;
        }
        let view = |values| RecordedRuns::new(values, 1, STEPS).unwrap();
        let found = SamplerEvidence::of(view(&target), view(&zero_out), model, candidates).unwrap();
        let against = found.ln_against(Placement::Shuffle).unwrap();
        if against > math::ln(needed(placements.len() as f64)) {
            refuted += chance;
        }
    }
    refuted
}

#[test]
fn a_correct_sampler_is_rarely_refuted() {
    let quiet = OutputModel { noise_multiplier: 0.2, ..CANARY };
    let rule = |candidates: f64| (candidates - 1.0) / LEVEL;
    assert!(chance_of_refutation(&quiet, rule) <= LEVEL);
    // broken twins: 1/20 for 1/1000, candidates that are not counted, a share of the zero-out record
    // where there is none
    assert!(chance_of_refutation(&quiet, |candidates| 20.0 * (candidates - 1.0)) > LEVEL);
    assert!(chance_of_refutation(&quiet, |_| 1.0 / LEVEL) > LEVEL);
    let shared = OutputModel { zero_out_share: 0.5, ..quiet };
    assert!(chance_of_refutation(&shared, rule) > LEVEL);
}

#[test]
fn the_sampler_is_recognised_and_no_correct_one_refuted() {
    let samplers = [
        Placement::Shuffle,
        Placement::Poisson,
        Placement::PersistentShuffle,
        Placement::FixedStep,
        Placement::FirstBatches { batches: 5 },
        Placement::FirstBatches { batches: 2 },
    ];
    for model in [CANARY, INFORMED] {
        for placement in samplers {
            for seed in 0..3 {
                let drawn = Recording::draw(&model, placement, (40, 2, 10), seed, no_drift);
                let found = drawn.evidence(&model);
                assert_eq!(found.shown(LEVEL), Some(placement), "{model:?} {found:?}");
            }
        }
    }
}

#[test]
fn few_runs_with_much_noise_distinguish_nothing() {
    let model = OutputModel { noise_multiplier: 1.0, ..CANARY };
    for placement in [Placement::Shuffle, Placement::Poisson] {
        let found = Recording::draw(&model, placement, (100, 1, 100), 1, no_drift).evidence(&model);
        let left: Vec<Placement> = found.placements(false, LEVEL).collect();
        assert!(left.contains(&Placement::Shuffle) && left.contains(&Placement::Poisson));
        assert_eq!(found.shown(LEVEL), None);
    }
}

#[test]
fn a_drift_of_both_worlds_refutes_nothing() {
    for model in [CANARY, INFORMED] {
        let model = OutputModel { noise_multiplier: 1.0, ..model };
        let (mut refuted, mut refuted_by_mutant) = (0, 0);
        for placement in [Placement::Shuffle, Placement::Poisson] {
            let is_refuted = |found: &SamplerEvidence| {
                u32::from(found.ln_against(placement).unwrap() > found.ln_needed(LEVEL))
            };
            for seed in 0..10 {
                let drawn = Recording::draw(&model, placement, (40, 2, 10), seed, drift);
                let found = drawn.evidence(&model);
                assert!(found.is_of_differences);
                refuted += is_refuted(&found);
                // broken twin: the drift is no part of D′
                let still = Recording::draw(&model, placement, (40, 2, 10), seed, no_drift);
                let worlds = [drawn.worlds[0].clone(), still.worlds[1].clone()];
                refuted_by_mutant += is_refuted(&Recording { worlds, ..drawn }.evidence(&model));
            }
        }
        assert_eq!(refuted, 0, "{model:?}");
        assert!(refuted_by_mutant >= 5, "{model:?}: {refuted_by_mutant}");
        // what the differences leave is enough to see a short buffer
        let short = Placement::FirstBatches { batches: 5 };
        let quiet = OutputModel { noise_multiplier: 0.4, ..model };
        let found = Recording::draw(&quiet, short, (60, 2, 10), 1, drift).evidence(&quiet);
        assert!(found.placements(true, LEVEL).any(|refuted| refuted == Placement::Shuffle));
    }
}

#[test]
fn the_variance_of_epoch_sums_separates_shuffle_from_poisson() {
    let sums = |placement| {
        let drawn = Recording::draw(&CANARY, placement, (400, 1, 10), 3, no_drift);
        drawn.evidence(&CANARY).epoch_sums.unwrap()
    };
    let (shuffle, poisson) = (sums(Placement::Shuffle), sums(Placement::Poisson));
    let errors = |sums: EpochSums, placement| sums.standard_errors(&CANARY, placement, 10, 0.1);
    assert!(shuffle.p_value > 1e-3 && poisson.p_value < 1e-9, "{shuffle:?} {poisson:?}");
    for (sums, own, other) in [
        (shuffle, Placement::Shuffle, Placement::Poisson),
        (poisson, Placement::Poisson, Placement::Shuffle),
    ] {
        assert!(errors(sums, own).abs() < 3.5 && errors(sums, other).abs() > 5.0, "{sums:?}");
    }
}

#[test]
fn outputs_that_overflow_and_failed_runs_are_no_evidence() {
    fn view(values: &[f64]) -> RecordedRuns<'_> {
        RecordedRuns::new(values, 1, 4).unwrap()
    }
    let placements = [Placement::Shuffle, Placement::Poisson];
    let candidates = PlacementCandidates { placements: &placements, rate: 0.25, weights: &[] };
    let of =
        |target: &[f64]| SamplerEvidence::of(view(target), view(&[0.0; 8]), &CANARY, candidates);
    assert_eq!(of(&[f64::MAX; 4]), None);
    let found = of(&[f64::NAN; 4]).unwrap();
    assert_eq!(found.ln_against(Placement::Shuffle), Some(0.0));
    assert_eq!(found.ln_against(Placement::FixedStep), None);
    assert_eq!(found.epoch_sums, None);
}
