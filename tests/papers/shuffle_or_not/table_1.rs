//! Table I: published models, audited over all their epochs.

use dpscope_core::planner::ceiling;
use dpscope_core::trade_off::Trials;
use dpscope_tests::simulate::shuffled;
use dpscope_tests::{Row, Table};

use super::{Expect, estimated, printed, problem, standard_error};

const SIMULATED: &str = include_str!("table_1_simulated.csv");

/// The paper's observations, of both worlds together.
const PUBLISHED: u64 = 10_000_000;

fn find<'a>(table: &'a Table<'a>, model: &str) -> Row<'a> {
    table.rows().find(|row| row.text("model") == model).unwrap()
}

fn run(row: Row<'_>, observations: u64) -> dpscope_core::bound::EpsilonEstimate {
    let (steps, epochs) = (row.count("steps") as u32, row.count("epochs") as u32);
    estimated(shuffled(row.float("noise_multiplier"), steps, epochs), observations, 1)
}

fn ceiling_at(observations: u64) -> f64 {
    let per_world = observations / 2;
    ceiling(Trials { target: per_world, zero_out: per_world }, 1e-5, 0.025).unwrap()
}

/// As many observations as draw at most 2.5·10⁹ normals.
fn affordable(row: Row<'_>) -> u64 {
    let entries = row.count("steps") * row.count("epochs");
    if entries * 100_000 <= 2_500_000_000 { 100_000 } else { 10_000 }
}

#[test]
fn few_observations_stay_below_ceiling_and_truth_and_rise_towards_the_printed_value() {
    const REASON: &str = "the estimate is held down by the number of observations";
    let (text, known) = (printed("table_1.csv"), Table::parse(SIMULATED));
    for row in Table::parse(&text).rows() {
        let model = row.text("model");
        let (observations, published) = (affordable(row), row.float("empirical_epsilon"));
        let [fewer, ours] = [observations / 10, observations].map(|n| run(row, n));
        println!(
            "{model} {observations}: {:.3} {:.3} ± {:.3} printed {published} ceiling {:.3}",
            fewer.value(),
            ours.value(),
            standard_error(&ours),
            ceiling_at(observations)
        );
        assert!(ours.value() <= ceiling_at(observations), "{model}");
        if let Ok(most) = find(&known, model).text("pair_upper").parse::<f64>() {
            assert!(ours.value() < most, "{model}: {} above {most}", ours.value());
        }
        assert!(fewer.value() < ours.value() && ours.value() < published, "{model}");
        // Each factor of ten in the observations adds at most about ln 10 to an estimate.
        let gain = ((PUBLISHED / observations) as f64).log10() * std::f64::consts::LN_10;
        assert!(published < ours.value() + gain + 3.0 * standard_error(&ours), "{model}");
        assert_eq!(problem(&ours, published, Expect::Mismatch(REASON)), None, "{model}");
    }
}

/// The printed row, and this project's reference simulation of it.
fn at_full_size(model: &str) {
    let text = printed("table_1.csv");
    let (table, known) = (Table::parse(&text), Table::parse(SIMULATED));
    let row = find(&table, model);
    let ours = run(row, PUBLISHED);
    println!("{ours:?}");
    assert_eq!(problem(&ours, row.float("empirical_epsilon"), Expect::Match), None);
    let known = find(&known, model);
    assert_eq!(problem(&ours, known.float("mean"), Expect::Match), None);
    assert!(ours.value() <= ceiling_at(PUBLISHED));
}

#[test]
#[ignore = "1 min"]
fn printed_cifar_10() {
    at_full_size("CIFAR-10");
}

#[test]
#[ignore = "1 min"]
fn printed_sst_2() {
    at_full_size("SST-2");
}

#[test]
#[ignore = "2 min"]
fn printed_qnli() {
    at_full_size("QNLI");
}

#[test]
#[ignore = "2 min"]
fn printed_persona_chat() {
    at_full_size("Persona-Chat");
}

#[test]
#[ignore = "9 min"]
fn printed_mnli() {
    at_full_size("MNLI");
}

#[test]
#[ignore = "50 min"]
fn printed_places_365() {
    at_full_size("Places-365");
}
