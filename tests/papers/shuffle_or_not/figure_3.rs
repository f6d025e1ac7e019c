//! Figure 3: one epoch of shuffling, uncorrected estimates that rise with the observations.

use dpscope_tests::simulate::{Spread, counted, planned, shuffled};
use dpscope_tests::{Row, Table};

use super::{Expect, FEWER, Ours, estimate, estimated, printed};

const SIMULATED: &str = include_str!("simulated.csv");
const INDEPENDENT: &str = include_str!("simulated_independent.csv");

/// Runs behind a mean of `simulated.csv`.
const STATED_RUNS: f64 = 5.0;

/// Standard errors between two means.
const MEANS: f64 = 4.0;

/// A setting of the figure and its printed value at 10⁹ observations.
struct Setting {
    noise_multiplier: f64,
    steps: u32,
    empirical_epsilon: Option<f64>,
}

fn settings() -> Vec<Setting> {
    let text = printed("figure_3.csv");
    let table = Table::parse(&text);
    let setting = |row: Row<'_>| Setting {
        noise_multiplier: row.float("noise_multiplier"),
        steps: row.count("steps") as u32,
        empirical_epsilon: row.text("empirical_epsilon").parse().ok(),
    };
    table.rows().map(setting).collect()
}

/// Estimates of so many runs with the seeds 1, 2, …
fn spread(row: Row<'_>, observations: u64, runs: u64, significance: f64) -> Spread {
    let mechanism = shuffled(row.float("noise_multiplier"), row.count("steps") as u32, 1);
    let run = |seed| estimate(&counted(&planned(mechanism, observations, seed)), significance);
    Spread::of(&(1..=runs).map(|seed| run(seed).value()).collect::<Vec<_>>())
}

/// Standard errors between our mean and a stated one of `runs` runs. The standard deviation is the
/// larger of both: that of five runs is often far too small.
fn z_of(ours: Spread, row: Row<'_>, runs: f64) -> f64 {
    let deviation = ours.standard_deviation.max(row.float("standard_deviation"));
    let error = deviation * (1.0 / runs + 1.0 / ours.values as f64).sqrt();
    (ours.mean - row.float("mean")) / error
}

fn describe(row: Row<'_>) -> String {
    let cell = |name| row.text(name);
    format!("σ={} T={}, {}", cell("noise_multiplier"), cell("steps"), cell("observations"))
}

/// Our spreads, in the order of the rows with so many observations.
fn agrees_with_the_stated_means(observations: u64, runs: u64) -> Vec<Spread> {
    let table = Table::parse(SIMULATED);
    let rows = table.rows().filter(|row| row.count("observations") == observations);
    let mut spreads = Vec::new();
    let mut sum = 0.0;
    for row in rows {
        let ours = spread(row, observations, runs, 0.05);
        let z = z_of(ours, row, STATED_RUNS);
        assert!(z.abs() < MEANS, "{}: {ours:?}, z = {z:.1}", describe(row));
        spreads.push(ours);
        sum += z;
    }
    let joint = sum / (spreads.len() as f64).sqrt();
    assert!(joint.abs() < MEANS, "all rows together: z = {joint:.1}");
    spreads
}

#[test]
fn ten_thousand_observations_follow_the_stated_means() {
    agrees_with_the_stated_means(10_000, 10);
}

#[test]
fn a_hundred_thousand_observations_follow_the_stated_means() {
    agrees_with_the_stated_means(100_000, 10);
}

#[test]
fn a_million_observations_follow_the_stated_means_and_not_the_printed_values() {
    let spreads = agrees_with_the_stated_means(1_000_000, 5);
    assert_eq!(spreads.len(), settings().len());
    for (setting, spread) in settings().into_iter().zip(spreads) {
        let Setting { noise_multiplier, steps, empirical_epsilon: Some(printed) } = setting else {
            continue;
        };
        let found = Ours::of_runs(spread).problem(printed, FEWER);
        assert_eq!(found, None, "σ={noise_multiplier} T={steps}");
        assert!(spread.mean < printed, "σ={noise_multiplier} T={steps}");
    }
}

#[test]
#[ignore = "1 min"]
fn ten_million_observations_follow_the_stated_means() {
    agrees_with_the_stated_means(10_000_000, 5);
}

/// Estimates by another program agree to a few hundredths, which distinguishes what the
/// spread of five runs cannot.
#[test]
fn estimates_agree_with_another_program() {
    let table = Table::parse(INDEPENDENT);
    for row in table.rows() {
        let observations = row.count("observations");
        let budget = 400_000_000 / (observations * row.count("steps"));
        let runs = budget.clamp(20, 200);
        let theirs = row.float("runs");
        let z = z_of(spread(row, observations, runs, 0.05), row, theirs);
        assert!(z.abs() < MEANS, "{}: z = {z:.1}", describe(row));
        if runs < 200 {
            continue;
        }
        // Broken twins: so many observations of each world; twice the tail.
        for (n, significance) in [(2 * observations, 0.05), (observations, 0.1)] {
            let z = z_of(spread(row, n, runs, significance), row, theirs);
            assert!(z > MEANS, "{} accepts {n} at {significance}: z = {z:.1}", describe(row));
        }
    }
}

/// The printed row itself.
fn at_full_size(noise_multiplier: f64, steps: u32) {
    let settings = settings();
    let is = |s: &&Setting| s.noise_multiplier == noise_multiplier && s.steps == steps;
    let printed = settings.iter().find(is).unwrap().empirical_epsilon.unwrap();
    let ours = estimated(shuffled(noise_multiplier, steps, 1), 1_000_000_000, 1);
    assert_eq!(Ours::of_run(&ours).problem(printed, Expect::Match), None);
}

#[test]
#[ignore = "2 min"]
fn noise_0_5_in_100_steps() {
    at_full_size(0.5, 100);
}

#[test]
#[ignore = "2 min"]
fn noise_1_0_in_100_steps() {
    at_full_size(1.0, 100);
}

#[test]
#[ignore = "2 min"]
fn noise_1_5_in_100_steps() {
    at_full_size(1.5, 100);
}

#[test]
#[ignore = "20 min"]
fn noise_0_5_in_1000_steps() {
    at_full_size(0.5, 1000);
}

#[test]
#[ignore = "20 min"]
fn noise_1_5_in_1000_steps() {
    at_full_size(1.5, 1000);
}
