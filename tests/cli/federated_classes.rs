//! Canaries that report several numbers of examples or send several norms, and how often they take part.

use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::codes;
use crate::federated_updates::Training;

const CLASSES: &str = "--weights 1,100 --loudness 1,4";

fn finding<'a>(report: &'a Value, code: &str) -> Option<&'a Value> {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == code)
}

/// A training in which canaries arrive with the given multiple of their weight and loudness.
fn trained(attacker: &str, norm: impl Fn(f64, f64) -> f64) -> Training {
    let attacker = format!("{attacker} {CLASSES}");
    let mut training = Training::planned("fixed:40", &attacker, |canary| vec![canary % 12]);
    let file = String::from_utf8(training.folder.read("plan/canaries.csv")).unwrap();
    let mut rows = file.lines();
    assert_eq!(rows.next(), Some("canary,weight,loudness"));
    let norms: Vec<f64> = rows
        .enumerate()
        .map(|(canary, row)| {
            let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(cells[0], canary as f64);
            assert!([1.0, 100.0].contains(&cells[1]) && [1.0, 4.0].contains(&cells[2]));
            norm(cells[1], cells[2])
        })
        .collect();
    training.scale_canaries(&norms);
    training.write_updates();
    training.write_participation();
    training
}

const KNOWN: &str = "audit federated --plan plan --updates updates \
    --participation participation.csv --noise-multiplier 0.1 --clip-norm 1 --json";

#[test]
fn norms_that_follow_the_plan_are_reported_with_what_is_left_of_the_noise() {
    let training = trained("known-server-rounds", |_, _| 1.0);
    assert_eq!(codes(&training.folder.run(KNOWN).exits(0).json()), [""; 0]);
    let training = trained("known-server-rounds", |weight, _| if weight > 1.0 { 8.0 } else { 1.0 });
    let report = training.folder.run(KNOWN).exits(0).json();
    let found = finding(&report, "arrival_follows_class").unwrap();
    assert_eq!(text(found, "/data/class"), "weight");
    // noise of 0.1 for a client that arrives eight times
    assert!((number(found, "/data/noise_multiplier") - 0.1 / 8.0).abs() < 0.003, "{found:#}");
    assert!((number(found, "/data/slope") - 7.0 / 99.0).abs() < 0.02, "{found:#}");
    assert!(number(found, "/data/p_value") < 1e-5);
    let training = trained("known-server-rounds", |_, loudness| 2.0 * loudness);
    let report = training.folder.run(KNOWN).exits(0).json();
    let found = finding(&report, "arrival_follows_class").unwrap();
    assert_eq!(text(found, "/data/class"), "loudness");
}

#[test]
fn scores_that_follow_the_plan_are_reported_without_the_noise() {
    let audit = "audit federated --plan plan --updates updates --claim 1000 --json";
    let training = trained("sum-of-updates", |_, _| 1.0);
    assert_eq!(codes(&training.folder.run(audit).exits(0).json()), [""; 0]);
    let training = trained("sum-of-updates", |weight, _| if weight > 1.0 { 9.0 } else { 1.0 });
    let report = training.folder.run(audit).exits(6).json();
    let found = finding(&report, "scores_follow_class").unwrap();
    assert_eq!(text(found, "/data/class"), "weight");
}

#[test]
fn cosines_in_a_file_are_compared_with_the_plan() {
    let folder = crate::Folder::new();
    let plan = "plan federated --design fixed:40 --delta 1e-6 --dimension 10000 --weights 1,100";
    folder.run(&format!("{plan} --out plan")).exits(0);
    let classes = String::from_utf8(folder.read("plan/canaries.csv")).unwrap();
    let audit = |scale: f64| {
        let rows = classes.lines().rev().filter(|row| !row.starts_with("canary")).map(|row| {
            let (canary, weight) = row.split_once(',').unwrap();
            let place: f64 = canary.parse().unwrap();
            let weight: f64 = weight.parse().unwrap();
            // normal scores from -1 to 1, and more for those with a large weight
            format!("{canary},{}\n", (place / 20.0 - 1.0 + scale * weight) / 100.0)
        });
        folder.write("cosines.csv", format!("canary,cosine\n{}", rows.collect::<String>()));
        folder.run("audit federated --cosines cosines.csv --plan plan --json").exits(0).json()
    };
    assert!(finding(&audit(0.0), "scores_follow_class").is_none());
    assert!(finding(&audit(0.05), "scores_follow_class").is_some());
}

#[test]
fn participation_above_the_claimed_one_is_reported() {
    let audit = |rounds: fn(usize) -> Vec<usize>, code: i32| {
        let training = Training::with("sum-of-updates", rounds);
        training.write_updates();
        let words = "audit federated --plan plan --updates updates --claim 1000 --json \
            --noise-multiplier 0.1 --clip-norm 1 --participations 1";
        training.folder.run(words).exits(code).json()
    };
    assert_eq!(codes(&audit(|canary| vec![canary % 12], 0)), [""; 0]);
    let often = audit(|_| (0..12).collect(), 6);
    assert!(finding(&often, "participation_above_claimed").is_some(), "{often:#}");
}

#[test]
fn classes_that_are_no_numbers_are_refused() {
    let folder = crate::Folder::new();
    let many = "plan federated --design poisson:1e9 --dimension 9 --weights 1,5 --out p";
    folder.run(many).refuses(2, &["--design", "canaries.csv", "at most 1000000"]);
    let plan = "plan federated --design poisson:9 --delta 1e-6 --dimension 100";
    folder.run(&format!("{plan} --out plan --weights 1,0")).refuses(2, &["--weights has 0"]);
    folder.run(&format!("{plan} --out plan --loudness 1,-2")).exits(2);
    folder.run("plan federated --design poisson:9 --delta 1e-6 --weights 1,2").exits(2);
    folder.run(&format!("{plan} --out plan")).exits(0);
    let audit =
        "audit federated --cosines cosines.csv --plan plan --noise-multiplier 1 --clip-norm 1";
    folder.write("cosines.csv", "canary,cosine\n0,0.1\n");
    folder.run(&format!("{audit} --participations 2")).refuses(2, &["--participations"]);
}
