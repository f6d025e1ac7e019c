//! `dpscope audit outputs` of trainings with one fault each: the finding names the fault and its size, and
//! the same training without it has none.

use dpscope_formats::{Array, write_npz};
use dpscope_tests::Draws;
use dpscope_tests::cli::number;
use serde_json::Value;

use crate::{Folder, codes};

/// A recorded training: the target in one batch of each epoch, or in each with probability 1/T.
#[derive(Clone, Copy)]
struct Training {
    threat_model: &'static str,
    sampler: &'static str,
    runs: usize,
    epochs: usize,
    steps: usize,
    /// Copies of the target in each epoch of a shuffle.
    copies: usize,
    /// Norm of the target's clipped gradient.
    size: f64,
    /// What the sum of clipped gradients is multiplied by.
    factor: f64,
    /// What the noisy sum is multiplied by.
    scale: f64,
    /// Noise multiplier by world (0 with the target), epoch and step.
    noise: fn(usize, usize, usize) -> f64,
    /// Whether no noise is added to empty batches.
    skips_empty: bool,
}

fn stated_noise(_: usize, _: usize, _: usize) -> f64 {
    1.0
}

const SHUFFLED: Training = Training {
    threat_model: "partially-informed",
    sampler: "shuffle",
    runs: 120,
    epochs: 2,
    steps: 10,
    copies: 1,
    size: 1.0,
    factor: 1.0,
    scale: 1.0,
    noise: stated_noise,
    skips_empty: false,
};

const POISSON: Training =
    Training { threat_model: "target-canary", sampler: "poisson", steps: 20, ..SHUFFLED };

/// Outputs, sums before noise and uses of the target in one world.
#[derive(Default)]
struct World {
    outputs: Vec<f64>,
    sums: Vec<f64>,
    uses: Vec<f64>,
}

impl Training {
    fn world(&self, world: usize, draws: &mut Draws) -> World {
        let mut recorded = World::default();
        let (target, other) = match (self.threat_model, world) {
            ("partially-informed", _) => (self.size * [1.0, 0.0][world], -1.0),
            (_, 0) => (self.size, 0.0),
            _ => (0.0, 0.0),
        };
        for _ in 0..self.runs {
            for epoch in 0..self.epochs {
                let mut uses = vec![0.0; self.steps];
                match self.sampler {
                    "poisson" => uses.iter_mut().for_each(|used| {
                        *used = f64::from(u8::from(draws.below(self.steps) == 0));
                    }),
                    _ => (0..self.copies).for_each(|_| uses[draws.below(self.steps)] += 1.0),
                }
                for (step, used) in uses.into_iter().enumerate() {
                    let sum =
                        if used > 0.0 { target + (used - 1.0) * (target - other) } else { other };
                    let sum = self.factor * sum;
                    let noise = (self.noise)(world, epoch, step) * draws.normal();
                    let is_empty = self.skips_empty && used == 0.0 && draws.below(8) == 0;
                    let output = if is_empty { 0.0 } else { sum + noise };
                    recorded.outputs.push(self.scale * output);
                    recorded.sums.push(self.scale * sum);
                    recorded.uses.push(used);
                }
            }
        }
        recorded
    }

    /// The report on the training, audited as its threat model and `sampler` with noise 1.
    fn audit_as(&self, (threat_model, sampler): (&str, &str), with_sums: bool) -> Value {
        let mut draws = Draws::new(42);
        let [target, zero_out] = [0, 1].map(|world| self.world(world, &mut draws));
        let shape = vec![self.runs, self.epochs, self.steps];
        let array = |values: Vec<f64>| Array::new(shape.clone(), values).unwrap();
        let [outputs, others] = [target.outputs, zero_out.outputs].map(&array);
        let more = [target.sums, zero_out.sums, target.uses, zero_out.uses].map(array);
        let mut arrays = vec![("target", &outputs), ("zero_out", &others)];
        if with_sums {
            let names = ["sums_target", "sums_zero_out", "uses_target", "uses_zero_out"];
            arrays.extend(names.into_iter().zip(&more));
        }
        let folder = Folder::new();
        folder.write("runs.npz", write_npz(&arrays).unwrap());
        let words = format!(
            "audit outputs runs.npz --noise-multiplier 1 --sampler {sampler} --threat-model \
             {threat_model} --json"
        );
        folder.run(&words).exits(0).json()
    }

    fn audit(&self) -> Value {
        self.audit_as((self.threat_model, self.sampler), false)
    }
}

/// Asserts the only finding, and that its number is near the true one.
#[track_caller]
fn assert_found(report: &Value, code: &str, path: &str, expected: f64, error: f64) {
    assert_eq!(codes(report), [code], "{:#}", report["findings"]);
    let value = number(report, &format!("/findings/0/data/{path}"));
    assert!((value - expected).abs() <= error, "{code}: {value} for {expected}");
}

#[test]
fn correct_trainings_have_no_finding() {
    let many = Training { runs: 300, ..SHUFFLED };
    for training in [SHUFFLED, many, POISSON, Training { threat_model: "target-canary", ..many }] {
        for with_sums in [false, true] {
            let passed = (training.threat_model, training.sampler);
            let report = training.audit_as(passed, with_sums);
            assert_eq!(codes(&report), Vec::<&str>::new(), "{with_sums}");
        }
    }
}

#[test]
fn steps_with_too_few_outputs_are_compared_in_groups_or_reported() {
    let comparison =
        |runs| Training { runs, epochs: 1, ..SHUFFLED }.audit()["step_comparison"].clone();
    let expected = serde_json::json!({ "kind": "too-few-outputs", "runs_needed": 10 });
    assert_eq!(comparison(9), expected);
    assert_eq!(comparison(20), serde_json::json!({ "kind": "groups", "groups": 3 }));
    assert_eq!(comparison(50), serde_json::json!({ "kind": "each-step" }));
}

#[test]
fn other_noise_is_measured() {
    let halved = |_: usize, epoch: usize, _: usize| [1.0, 0.5][epoch];
    let report = Training { noise: halved, ..SHUFFLED }.audit();
    assert_found(&report, "noise_below_stated", "noise/value", 0.5, 0.03);
    assert_eq!(report["findings"][0]["data"]["epochs"], serde_json::json!([1, 1]));
    let report = Training { noise: |_, _, _| 0.8, runs: 200, ..SHUFFLED }.audit();
    assert_found(&report, "noise_below_stated", "noise/value", 0.8, 0.04);
    let decays = |_: usize, epoch: usize, _: usize| [1.0, 0.8, 0.6, 0.4][epoch];
    let report = Training { noise: decays, epochs: 4, ..SHUFFLED }.audit();
    assert_found(&report, "noise_below_stated", "noise/value", 0.4, 0.03);
    let report = Training { noise: |_, _, _| 2.0, ..SHUFFLED }.audit();
    assert_found(&report, "noise_above_stated", "noise/value", 2.0, 0.15);
    let by_world = |world: usize, _: usize, _: usize| [0.7, 1.0][world];
    let report = Training { noise: by_world, ..SHUFFLED }.audit();
    assert_found(&report, "noise_differs_by_world", "target", 0.7, 0.04);
    assert!((number(&report, "/findings/0/data/zero_out") - 1.0).abs() < 0.05);
}

#[test]
fn steps_with_other_noise_are_named() {
    let without = |_: usize, _: usize, step: usize| if step == 7 { 0.0 } else { 1.0 };
    let report = Training { noise: without, runs: 200, ..POISSON }.audit();
    assert_found(&report, "no_noise_at_steps", "step", 7.0, 0.0);
    // that step alone: the target is there in 100 of 2,000 runs of D and in none of D′
    let report = Training { noise: without, epochs: 1, runs: 2000, ..POISSON }.audit();
    let epsilon = number(&report, "/result/epsilon");
    assert!((2.6..3.0).contains(&epsilon), "{epsilon} {}", report["result"]);
    // noise that is missing at this step of the first epoch only proves as much
    let once =
        |_: usize, epoch: usize, step: usize| if (epoch, step) == (0, 7) { 0.0 } else { 1.0 };
    let report = Training { noise: once, runs: 2000, ..POISSON }.audit();
    assert_found(&report, "no_noise_at_steps", "step", 7.0, 0.0);
    assert_eq!(report["findings"][0]["data"]["epochs"], serde_json::json!([0, 0]));
    let epsilon = number(&report, "/result/epsilon");
    assert!((2.6..3.0).contains(&epsilon), "{epsilon} {}", report["result"]);
    let last = |_: usize, _: usize, step: usize| if step == 19 { 0.2 } else { 1.0 };
    let report = Training { noise: last, steps: 20, ..SHUFFLED }.audit();
    assert_eq!(codes(&report), ["noise_differs_by_step"], "{:#}", report["findings"]);
    let report = Training { skips_empty: true, ..POISSON }.audit();
    assert_eq!(codes(&report), ["no_noise_in_empty_batches"], "{:#}", report["findings"]);
}

#[test]
fn wrong_sums_are_explained() {
    // a batch may have both copies, so that the uses are not exactly two
    let report = Training { copies: 2, ..SHUFFLED }.audit();
    assert_found(&report, "uses_differ", "uses/value", 1.95, 0.35);
    let report = Training { factor: 2.0, ..SHUFFLED }.audit();
    assert_found(&report, "records_not_clipped", "factor/value", 2.0, 0.1);
    let report = Training { scale: 2.0, ..SHUFFLED }.audit();
    assert_found(&report, "outputs_scaled", "factor/value", 2.0, 0.1);
    let report = Training { scale: -1.0, ..SHUFFLED }.audit();
    assert_eq!(codes(&report), ["outputs_negated"], "{:#}", report["findings"]);
    let report = Training { size: 3.0, ..SHUFFLED }.audit();
    assert_eq!(codes(&report), ["canary_size_differs"], "{:#}", report["findings"]);
}

#[test]
fn the_mean_of_other_batches_does_not_contain_the_target() {
    let canary = Training { threat_model: "target-canary", steps: 5, runs: 200, ..SHUFFLED };
    let report = canary.audit_as(("partially-informed", "shuffle"), false);
    assert_found(&report, "other_batches_differ", "mean/value", 0.0, 0.1);
    assert_eq!(report["findings"][0]["data"]["threat_model"], "target-canary");
}

#[test]
fn sums_and_uses_show_small_faults_exactly() {
    // outputs alone would need some 3,000 runs for this noise
    let with_sums =
        |training: Training| training.audit_as((training.threat_model, "shuffle"), true);
    let report = with_sums(Training { noise: |_, _, _| 0.93, ..SHUFFLED });
    assert_found(&report, "noise_below_stated", "noise/value", 0.93, 0.03);
    assert_eq!(report["phases"][0]["is_noise_exact"], true);
    let report = with_sums(Training { scale: 0.93, ..SHUFFLED });
    assert_found(&report, "outputs_scaled", "factor/value", 0.93, 0.03);
    let report = with_sums(Training { copies: 2, ..SHUFFLED });
    assert_found(&report, "uses_differ", "uses/value", 2.0, 0.0);
    let report = with_sums(Training { size: 1.2, ..SHUFFLED });
    assert_found(&report, "canary_size_differs", "size/value", 1.2, 1e-6);
    // at this noise the outputs decide nothing
    for (drawn, passed, shown) in [
        (Training { sampler: "shuffle", ..POISSON }, "poisson", "shuffle"),
        (POISSON, "shuffle", "poisson"),
    ] {
        let report = drawn.audit_as(("target-canary", passed), true);
        assert_eq!(codes(&report), ["sampler_refuted"], "{:#}", report["findings"]);
        assert_eq!(report["findings"][0]["data"]["by"]["kind"], "uses");
        assert_eq!(report["findings"][0]["data"]["shown"]["kind"], shown);
        let report = drawn.audit_as(("target-canary", shown), true);
        assert_eq!(codes(&report), Vec::<&str>::new(), "{:#}", report["findings"]);
    }
}
