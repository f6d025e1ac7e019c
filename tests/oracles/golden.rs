//! Whole golden files, and libraries with one mistake that they reject.

use std::path::Path;
use std::process::{Command, Output};

use dpscope_tests::golden::{
    Answer, Bracket, Counts, Finding, Library, OneSide, Outcome, PairValue, Real, Run, Tally,
    evaluate, evaluate_file, only_group,
};

fn findings(file: &str, library: &dyn Library) -> Vec<Finding> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/data"));
    evaluate_file(&folder.join(file), library).expect("the file is well-formed")
}

fn failed(findings: &[Finding], group: &str) -> usize {
    let is_failed = |found: &&Finding| matches!(found.outcome, Outcome::Failed(_));
    findings.iter().filter(is_failed).filter(|found| found.case.starts_with(group)).count()
}

#[test]
fn accounting_agrees() {
    let findings = findings("accounting.json", &Real);
    assert_eq!(failed(&findings, ""), 0, "{findings:#?}");
    assert_eq!(Tally::of(&findings).passed, 193);
}

#[test]
fn estimators_agree() {
    let findings = findings("estimators.json", &Real);
    assert_eq!(failed(&findings, ""), 0, "{findings:#?}");
    assert_eq!(Tally::of(&findings).passed, 411);
}

#[test]
fn one_run_agrees() {
    let findings = findings("one_run.json", &Real);
    assert_eq!(Tally::of(&findings), Tally { passed: 418, failed: 0, skipped: 0 }, "{findings:#?}");
}

#[test]
fn audits_without_coins_agree() {
    let findings = findings("without_coins.json", &Real);
    assert_eq!(Tally::of(&findings), Tally { passed: 310, failed: 0, skipped: 0 }, "{findings:#?}");
}

#[test]
fn recorded_outputs_agree() {
    let findings = findings("own_trainer.json", &Real);
    assert_eq!(failed(&findings, ""), 0, "{findings:#?}");
    assert_eq!(Tally::of(&findings).passed, 441);
}

#[test]
fn federated_agrees() {
    let findings = findings("federated.json", &Real);
    assert_eq!(Tally::of(&findings), Tally { passed: 481, failed: 0, skipped: 0 }, "{findings:#?}");
}

#[test]
fn votes_agree() {
    let findings = findings("pate.json", &Real);
    assert_eq!(failed(&findings, ""), 0, "{findings:#?}");
    assert_eq!(Tally::of(&findings).skipped, 0);
}

#[test]
fn faulty_vote_accountants_are_rejected() {
    let text = include_str!("data/pate.json");
    // each published accountant in the place of the correct one
    for name in ["updated", "synthcity", "borealis", "tf_pate2017_qlt_half", "exact_one_noise"] {
        let mut file: serde_json::Value = serde_json::from_str(text).unwrap();
        for case in file["cases"].as_array_mut().unwrap() {
            let correct = case["variants"]["correct_pate_bound"].clone();
            case["variants"] = serde_json::json!({ name: correct });
        }
        let found = evaluate(&file.to_string(), "pate.json", Path::new("."), &Real).unwrap();
        assert!(failed(&found, "") > 0, "{name}");
    }
}

#[test]
fn empirical_epsilons_agree() {
    let findings = findings("eps_emp.json", &Real);
    assert_eq!(Tally::of(&findings), Tally { passed: 48, failed: 0, skipped: 0 }, "{findings:#?}");
}

/// Everything but the drawn pair with a little less noise, and another sampling rate.
struct LessNoise;

impl LessNoise {
    fn changed(run: Run) -> Run {
        Run { noise_multiplier: 0.95 * run.noise_multiplier, ..run }
    }
}

impl Library for LessNoise {
    fn poisson(&self, run: Run, side: OneSide, error: f64) -> Answer<Bracket> {
        Real.poisson(Run { sampling_rate: 1.001 * run.sampling_rate, ..run }, side, error)
    }

    fn deterministic(&self, run: Run) -> Answer<Bracket> {
        Real.deterministic(LessNoise::changed(run))
    }

    fn balls_in_bins(&self, run: Run, error: f64) -> Answer<Bracket> {
        Real.balls_in_bins(LessNoise::changed(run), error)
    }

    fn shuffle_max_slice(&self, run: Run) -> Answer {
        Real.shuffle_max_slice(LessNoise::changed(run))
    }

    fn poisson_noise(&self, run: Run, epsilon: f64, error: f64) -> Answer {
        Real.poisson_noise(run, 1.001 * epsilon, error)
    }

    fn pair(&self, run: Run) -> Answer<PairValue> {
        if run.epochs == 1 { Real.pair(LessNoise::changed(run)) } else { Real.pair(run) }
    }
}

#[test]
fn accounting_of_less_noise_is_rejected() {
    let findings = findings("accounting.json", &LessNoise);
    let cases = |group: &str| findings.iter().filter(|found| found.case.starts_with(group)).count();
    for (group, least) in [
        ("a_poisson", 65),
        ("b_shuffle_lower_single", 12),
        ("b_shuffle_lower_multi", 11),
        ("c_deterministic", 58),
        ("d_balls_in_bins", 7),
        ("e_calibrated_sigma", 8),
        ("f_exact_pair_single", 11),
    ] {
        let failed = failed(&findings, group);
        assert!(failed >= least, "{group}: {failed} of {}", cases(group));
    }
}

/// A sampling rate that is a little off.
struct OtherRate(f64);

impl Library for OtherRate {
    fn poisson(&self, run: Run, side: OneSide, error: f64) -> Answer<Bracket> {
        Real.poisson(Run { sampling_rate: self.0 * run.sampling_rate, ..run }, side, error)
    }
}

#[test]
fn sampling_rates_off_by_1e_4_are_rejected() {
    let text = include_str!("data/accounting.json");
    let poisson = only_group(text, "accounting.json", "a_poisson").expect("a group");
    let is_rejected = |factor: f64| {
        let found = evaluate(&poisson, "accounting.json", Path::new("."), &OtherRate(factor));
        let found = found.expect("the file is well-formed");
        let mut found = found.iter().filter(|found| {
            found.case == "a_poisson/s0.5_T100_E1_d1e-05" && found.value == "interval.max"
        });
        found.next().map(|found| found.outcome != Outcome::Passed)
    };
    let seen = [0.9999, 1.0, 1.0001].map(is_rejected);
    assert_eq!(seen, [Some(true), Some(false), Some(true)]);
}

/// Whole tails instead of halves, and one false positive more.
struct WiderTails;

impl Library for WiderTails {
    fn epsilon_at_fixed_cut(&self, counts: Counts, delta: f64, significance: f64) -> Answer {
        Real.epsilon_at_fixed_cut(counts, delta, 2.0 * significance)
    }

    fn clopper_pearson(&self, events: u64, trials: u64, tail: f64) -> Answer<(f64, f64)> {
        Real.clopper_pearson(events, trials, 2.0 * tail)
    }

    fn jeffreys_upper(&self, events: u64, trials: u64, tail: f64) -> Answer {
        Real.clopper_pearson(events, trials, tail).map(|(_, upper)| upper)
    }

    fn max_uncorrected(&self, scores: [&[f64]; 2], delta: f64, significance: f64) -> Answer {
        Real.max_uncorrected(scores, delta, 2.0 * significance)
    }

    fn credible_interval(&self, counts: Counts, delta: f64, significance: f64) -> Answer<[f64; 2]> {
        let lower = Real.credible_lower(counts, delta, significance)?;
        Ok([lower, lower])
    }

    fn gdp_mu_lower_bound(&self, fpr_upper: f64, fnr_upper: f64) -> Answer {
        Real.gdp_mu_lower_bound(fpr_upper, fnr_upper).map(|gdp_mu| gdp_mu + 1e-6)
    }
}

#[test]
fn estimators_with_other_tails_are_rejected() {
    let findings = findings("estimators.json", &WiderTails);
    for (group, least) in [
        ("a_clopper_pearson_counts", 90),
        ("e_jeffreys_perfect_separation", 6),
        ("f_bayesian_joint_beta", 20),
        ("g_mu_lower_from_rates", 5),
        ("h_scores", 20),
    ] {
        let failed = failed(&findings, group);
        assert!(failed >= least, "{group}: {failed}");
    }
    assert_eq!(failed(&findings, "g_gdp_mu_to_eps"), 0);
}

#[test]
fn empirical_epsilons_with_other_tails_are_rejected() {
    let tally = Tally::of(&findings("eps_emp.json", &WiderTails));
    assert!(tally.failed > 40, "{tally:?}");
}

/// Runs the program in the folder of the data.
fn golden(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_golden"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/data"));
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn exit_codes_follow_the_findings() {
    let (code, out, _) = golden(&["eps_emp.json", "clopper_pearson.csv"]);
    assert_eq!((code, out.lines().last()), (Some(0), Some("1072 passed, 0 failed")), "{out}");

    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("changed.csv");
    let text = include_str!("data/clopper_pearson.csv").replacen("2.9513", "2.9512", 1);
    std::fs::write(&broken, text).expect("written");
    let (code, out, _) = golden(&[broken.to_str().expect("UTF-8")]);
    let expected = (Some(1), Some("1023 passed, 1 failed"));
    assert_eq!((code, out.lines().last()), expected, "{out}");
    assert!(out.starts_with("FAILED   0 of 100 at 0.05: upper: "), "{out}");

    let (code, out, error) = golden(&["absent.json", "eps_emp.json"]);
    assert_eq!((code, out.lines().last()), (Some(2), Some("48 passed, 0 failed")), "{out}");
    assert!(error.starts_with("error: absent.json: "), "{error}");
    let (code, _, error) = golden(&["--quiet", "eps_emp.json"]);
    assert_eq!((code, error.trim()), (Some(2), "error: unknown option `--quiet`"));
    assert_eq!(golden(&[]).0, Some(2));
}
