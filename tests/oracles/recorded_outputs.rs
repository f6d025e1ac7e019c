//! What recorded outputs show of the code behind them, compared with reference values.

use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel,
};
use dpscope_core::recorded::{
    ExactNoise, Explanation, OutputFit, OutputModel, OutputParameter, holm,
};
use dpscope_core::special::normal_quantile;
use dpscope_tests::Uniforms;
use serde_json::Value;

fn cases(group: &str) -> Vec<Value> {
    let data: Value = serde_json::from_str(include_str!("data/recorded_outputs.json")).unwrap();
    let cases = data["cases"].as_array().unwrap().iter();
    let cases: Vec<Value> = cases.filter(|case| case["group"] == group).cloned().collect();
    assert!(!cases.is_empty(), "{group}");
    cases
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} {value}"))
}

fn assert_near(case: &Value, seen: f64, pointer: &str) {
    let expected = number(case, &format!("/expected/{pointer}"));
    let tolerance = |kind: &str| case["tol"][kind].as_f64().unwrap_or(0.0);
    let most = tolerance("abs") + tolerance("rel") * expected.abs();
    assert!((seen - expected).abs() <= most, "{} {pointer}: {seen} {expected}", case["id"]);
}

/// Outputs of both worlds, as the reference drew them.
fn worlds(inputs: &Value) -> [Vec<f64>; 2] {
    let of = |name: &str| number(inputs, &format!("/{name}"));
    let [runs, steps] = ["runs", "steps"].map(|name| of(name) as usize);
    let epochs = of("epochs") as usize;
    let uses = inputs["uses"].as_f64().unwrap_or(1.0);
    let is_poisson = inputs["sampler"] == "poisson";
    let mut uniforms = Uniforms(of("seed") as u64);
    let _fixed = uniforms.draw();
    [of("size"), of("zero")].map(|mean| {
        let mut outputs = Vec::new();
        for _ in 0..runs * epochs {
            let mut means = vec![of("b"); steps];
            if is_poisson {
                for of_step in &mut means {
                    if uniforms.draw() < uses / steps as f64 {
                        *of_step = mean;
                    }
                }
            } else {
                for _ in 0..uses as usize {
                    means[uniforms.below(steps)] = mean;
                }
            }
            let noise = |at: f64| at + of("sigma") * normal_quantile(uniforms.draw()).unwrap();
            outputs.extend(means.into_iter().map(noise));
        }
        outputs
    })
}

fn fit(inputs: &Value) -> OutputFit {
    let stated = |index: usize| number(inputs, &format!("/stated/{index}"));
    let steps = number(inputs, "/steps");
    let model = OutputModel {
        other_mean: stated(0),
        contrast: stated(1),
        zero_out_share: number(inputs, "/rho"),
        noise_multiplier: stated(2),
        uses: stated(3) * steps,
    };
    let [target, zero_out] = worlds(inputs);
    OutputFit::new(&target, &zero_out, &model, steps as u32).unwrap()
}

#[test]
fn fits_have_the_reference_values_and_intervals() {
    for case in cases("mixture_fit") {
        let fit = fit(&case["inputs"]);
        assert_near(&case, fit.ln_likelihood(Explanation::All).unwrap(), "ln_likelihood");
        let parameters: [(&str, &str, OutputParameter); 4] = [
            ("b", "b_95", fit.other_mean(0.05)),
            ("contrast", "contrast_95", fit.contrast(0.05)),
            ("sigma", "sigma_95", fit.noise_multiplier(0.05)),
            ("uses_per_epoch", "uses_95", fit.uses_per_epoch(0.05)),
        ];
        for (name, interval, found) in parameters {
            assert_near(&case, found.value, name);
            assert_near(&case, found.lower, &format!("{interval}/0"));
            assert_near(&case, found.upper, &format!("{interval}/1"));
        }
    }
}

#[test]
fn explanations_have_the_reference_likelihoods_and_causes() {
    let names = [
        (Explanation::Stated, "stated"),
        (Explanation::Noise, "noise"),
        (Explanation::Uses, "uses"),
        (Explanation::Size, "size"),
        (Explanation::Scaled, "scale"),
        (Explanation::Unclipped, "unclipped"),
        (Explanation::Negated, "negated"),
        (Explanation::Swapped, "swapped"),
        (Explanation::All, "all"),
    ];
    for case in cases("explanation") {
        let fit = fit(&case["inputs"]);
        let mut least = 1.0_f64;
        for (explanation, name) in names {
            let found = fit.ln_likelihood(explanation).unwrap();
            assert_near(&case, found, &format!("ln_likelihood/{name}"));
            let pointer = format!("/expected/p_values/{name}");
            if let Some(expected) = case.pointer(&pointer).and_then(Value::as_f64) {
                let p = fit.p_value(explanation);
                // the tolerance of ln L, in p
                assert!(
                    (p - expected).abs() <= 2e-3 * expected + 1e-300,
                    "{} {name} {p}",
                    case["id"]
                );
                least = least.min(p);
            }
        }
        let is_found = 4.0 * least < 1e-3;
        assert_eq!(case["expected"]["finding"], is_found, "{}", case["id"]);
        let best = if is_found { fit.cause() } else { Explanation::Stated };
        let name = names.iter().find(|(explanation, _)| *explanation == best).unwrap().1;
        assert_eq!(case["expected"]["explanation"], name, "{}", case["id"]);
    }
}

#[test]
fn other_batches_are_measured_under_the_threat_model_that_fits() {
    let models =
        [ThreatModel::TargetCanary, ThreatModel::PartiallyInformed, ThreatModel::WorstCase];
    for case in cases("other_batches") {
        let inputs = &case["inputs"];
        let [target, zero_out] = worlds(inputs);
        let steps = number(inputs, "/steps") as u32;
        let stated = |threat_model| {
            let mechanism = BatchedGaussian {
                noise_multiplier: 1.0,
                steps_per_epoch: steps,
                epochs: 2,
                sampler: BatchSampler::Shuffle,
                threat_model,
                batch_size: Some(40),
                dataset_size: None,
            };
            let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).unwrap();
            OutputModel::stated(&scorer).unwrap()
        };
        let likelihoods = models.map(|threat_model| {
            let value = stated(threat_model).ln_likelihood(&target, &zero_out, steps);
            assert_near(&case, value, &format!("ln_likelihood/{threat_model}"));
            (value, threat_model)
        });
        let best = likelihoods.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
        assert_eq!(case["expected"]["best"], best.name());
        let fit = OutputFit::new(&target, &zero_out, &stated(best), steps).unwrap();
        assert_near(&case, fit.model(Explanation::Noise).other_mean, "mean");
    }
}

#[test]
fn noise_beside_sums_has_its_chi_square_interval() {
    for case in cases("exact_noise") {
        let of = |name: &str| number(&case, &format!("/inputs/{name}"));
        let noise = ExactNoise::new(of("sum_of_squares"), of("outputs") as u64);
        let found = noise.noise_multiplier(0.05);
        assert_near(&case, found.value, "sigma");
        assert_near(&case, found.lower, "lower");
        assert_near(&case, found.upper, "upper");
        assert_near(&case, noise.p_value(of("stated")), "p");
    }
}

#[test]
fn adjusted_p_values_are_holms() {
    for case in cases("holm") {
        let list = |pointer: &str| -> Vec<f64> {
            let values = case.pointer(pointer).and_then(Value::as_array).unwrap();
            values.iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let found = holm(&list("/inputs/p_values"));
        for (index, seen) in found.into_iter().enumerate() {
            assert_near(&case, seen, &format!("adjusted/{index}"));
        }
    }
}
