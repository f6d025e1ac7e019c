//! Each fault changes what it must, and the faithful mechanism does not.

use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::adjacency::World;
use dpscope_core::random::stream_of;
use dpscope_synth::mechanism::{MechanismError, Release, Run};
use dpscope_synth::table::{Column, ColumnKind, Schema, Table, Value};
use dpscope_synth::{Fault, Latent, Mechanism, Reader, Settings, Stop, VoteCounts};

use crate::tables;

/// Rows (0, 0, 0) and a target (1, 1, 1), the last, whose identifier is 4; without a label.
fn worst_case() -> Table {
    let kind = ColumnKind::Integer { low: 0, high: 1 };
    let column = |name: &str| Column { name: name.to_string(), kind: kind.clone() };
    let schema = Schema::new(["a", "b", "c"].map(column).to_vec()).unwrap();
    let row = |id: u64| (id, vec![Value::Number(if id == 4 { 1.0 } else { 0.0 }); 3]);
    Table::new(schema, &(0..5).map(row).collect::<Vec<_>>()).unwrap()
}

const ROWS: u64 = 60;

fn settings() -> Settings {
    let stop = Stop::Epsilon { epsilon: 1000.0, at_most: 300 };
    Settings { inverse_scale: 0.5, batch_size: 8, stop, rows: 13, ..Settings::default() }
}

fn mechanism_of(table: &Table, settings: &Settings, faults: &str) -> Mechanism {
    Mechanism::new(table, 0, settings, faults.parse().unwrap(), 17).unwrap()
}

fn mechanism(faults: &str) -> Mechanism {
    mechanism_of(&tables::mixed(ROWS), &settings(), faults)
}

fn runs(faults: &str) -> Vec<Run> {
    mechanism(faults).run(&(0..8).map(|run| stream_of(World::Target, run)).collect::<Vec<_>>())
}

fn releases(faults: &str) -> [Release; 2] {
    [World::Target, World::ZeroOut].map(|world| mechanism(faults).release(world))
}

/// Teachers that a removed row changes, at most, and rows of the first teacher.
fn changed_teachers(faults: &str) -> (usize, usize) {
    let mechanism = mechanism(faults);
    let changed = |unit| {
        let [all, less] = [World::Target, World::ZeroOut].map(|w| mechanism.teacher_rows(w, unit));
        assert_eq!(all.len(), less.len());
        all.iter().zip(&less).filter(|(all, less)| all != less).count()
    };
    let most = (0..20).map(changed).max().unwrap();
    (most, mechanism.run(&[0])[0].trace.teacher_rows[0].len())
}

#[test]
fn faulty_divisions_show_in_the_rows_of_teachers() {
    let (faithful, rows) = changed_teachers("");
    assert_eq!(faithful, 1);
    assert!(rows < 30, "{rows}");
    assert_eq!(changed_teachers("O2"), (5, 60));
    assert!(changed_teachers("E2").0 > 1);
    let division = |faults| runs(faults).remove(0).trace.teacher_rows;
    assert!(division("U1").windows(2).all(|pair| pair[0] == pair[1]));
    assert!(division("S1").iter().all(|rows| rows.len() > 50));
    let faithful = division("");
    assert_eq!(faithful.concat().len(), 60);
    assert!(faithful.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn releases_of_faults_depend_on_the_data() {
    let [all, less] = releases("");
    assert_eq!(all, less);
    for fault in Fault::ALL {
        let [all, less] = releases(fault.description().id);
        let expected = fault.description().detector.id() == "M5";
        assert_eq!(all != less, expected, "{fault}");
    }
    let [all, less] = releases("E1");
    assert_eq!((all.rows, less.rows), (60, 59));
    let [all, less] = releases("E9");
    assert_eq!((all.delta, less.delta), (1.0 / 60.0, 1.0 / 59.0));
    let [all, less] = releases("E12");
    assert_eq!((all.batch_size, less.batch_size), (60, 59));
}

#[test]
fn conditioning_releases_the_labels_of_the_data() {
    let mechanism = mechanism("O6");
    let run = &mechanism.run(&[0])[0];
    let counts = mechanism.release(World::Target).label_counts.unwrap();
    let ones = run.rows.iter().filter(|row| row[2] == 1.0).count() as u64;
    assert_eq!(counts, [13 - ones, ones]);
    assert_eq!(run.trace.readers, [Reader::Teachers, Reader::Generator]);
    let table = worst_case();
    let refused = Mechanism::new(&table, 4, &settings(), "O6".parse().unwrap(), 1);
    assert_eq!(refused.unwrap_err(), MechanismError::NoLabel { fault: Fault::O6 });
}

fn total(runs: &[Run]) -> VoteCounts {
    let mut sum = VoteCounts { votes: vec![0; 6], ones: vec![0; 6], accounted: vec![0; 6] };
    for votes in runs.iter().map(|run| &run.trace.votes) {
        for ones in 0..6 {
            sum.votes[ones] += votes.votes[ones];
            sum.ones[ones] += votes.ones[ones];
            sum.accounted[ones] += votes.accounted[ones];
        }
    }
    sum
}

/// χ² of noisy labels given the votes against the two-noise channel, in standard deviations.
fn channel_deviation(faults: &str) -> f64 {
    let counts = total(&runs(faults));
    let vote = NoisyVote::new(5, 0.5, VoteNoise::BothCounts).unwrap();
    let (mut chi, mut cells) = (0.0, 0.0);
    for ones in 0..6 {
        let (n, p) = (counts.votes[ones] as f64, vote.probability(ones as u32).unwrap());
        if n > 50.0 {
            let change = counts.ones[ones] as f64 - n * p;
            chi += change * change / (n * p * (1.0 - p));
            cells += 1.0;
        }
    }
    assert!(cells > 0.0);
    (chi - cells) / f64::sqrt(2.0 * cells)
}

#[test]
fn faulty_channels_have_other_labels_than_their_votes_allow() {
    assert!(channel_deviation("") < 5.0, "{}", channel_deviation(""));
    for fault in ["U3", "O4", "O5", "T4", "E5"] {
        assert!(channel_deviation(fault) > 10.0, "{fault}: {}", channel_deviation(fault));
    }
}

#[test]
fn noise_of_training_labels_has_the_size_of_its_formula() {
    assert_eq!(runs("")[0].trace.label_noise.labels, 0);
    for (fault, expected) in [("O4", 4.845), ("O5", 2.421), ("T4", 0.668)] {
        let noise = runs(fault)[0].trace.label_noise;
        let found = (noise.squares / noise.labels as f64).sqrt() * 1000.0;
        assert!((found / expected - 1.0).abs() < 0.05, "{fault}: {found}");
    }
}

#[test]
fn faulty_accountants_report_other_moments_than_those_of_the_votes() {
    // at γ = 0.5 most moments are those of unanimous votes
    let vote = NoisyVote::new(5, 0.5, VoteNoise::BothCounts).unwrap();
    let deviates = |faults: &str| {
        runs(faults).iter().any(|run| {
            (1..=100_u32).any(|order| {
                let counts = run.trace.votes.votes.iter().zip(0..);
                let terms =
                    counts.map(|(n, ones)| *n as f64 * vote.moment_of(ones, order).unwrap());
                let expected: f64 = terms.sum();
                let found = run.trace.moments[order as usize - 1];
                !((found - expected).abs() <= 1e-9 * expected)
            })
        })
    };
    for fault in Fault::ALL {
        let expected = ["S2", "B1", "N1", "E4", "E7"].contains(&fault.description().id);
        assert_eq!(deviates(fault.description().id), expected, "{fault}");
    }
    assert!(!deviates(""));
    let counts = total(&runs("E4"));
    assert_ne!(counts.votes, counts.accounted);
}

#[test]
fn late_or_data_dependent_questions_change_the_number_of_iterations() {
    let iterations = |faults: &str| runs(faults)[0].trace.iterations;
    let faithful = iterations("");
    assert_eq!(faithful, settings().plan().unwrap().iterations);
    assert_eq!(iterations("E6"), faithful + 1);
    // a unanimous vote costs less than the bound for all votes
    let unanimous = Settings {
        inverse_scale: 4.0,
        teachers: 3,
        stop: Stop::Epsilon { epsilon: 6400.0, at_most: 60 },
        ..settings()
    };
    let units: Vec<u64> = (0..6).collect();
    let table = tables::mixed(ROWS);
    let faithful = mechanism_of(&table, &unanimous, "").run(&units);
    let adaptive = mechanism_of(&table, &unanimous, "E8").run(&units);
    assert!(faithful.windows(2).all(|pair| pair[0].trace.iterations == pair[1].trace.iterations));
    let more = |(a, b): (&Run, &Run)| i64::from(a.trace.iterations) - i64::from(b.trace.iterations);
    let more: Vec<i64> = adaptive.iter().zip(&faithful).map(more).collect();
    assert!(more.iter().all(|more| *more >= 0) && more.iter().any(|more| *more > 0), "{more:?}");
    let alone = mechanism_of(&table, &unanimous, "E8");
    assert!(units.iter().zip(&adaptive).all(|(unit, run)| alone.run(&[*unit])[0] == *run));
    for fault in [Fault::E6, Fault::E8] {
        let fixed = Settings { stop: Stop::Iterations(3), ..settings() };
        let refused = Mechanism::new(&table, 0, &fixed, fault.to_string().parse().unwrap(), 1);
        assert_eq!(refused.unwrap_err(), MechanismError::NoEpsilon { fault });
    }
}

#[test]
fn real_rows_leave_the_name_of_their_reader() {
    let readers = |faults: &str| runs(faults)[0].trace.readers.clone();
    assert_eq!(readers(""), [Reader::Teachers]);
    assert_eq!(readers("O1"), [Reader::Student]);
    assert_eq!(readers("T1"), [Reader::Student]);
    assert_eq!(readers("E3"), [Reader::Teachers, Reader::Student]);
    assert_eq!(readers("E10"), [Reader::Teachers, Reader::Selection]);
    let trace = &runs("O1")[0].trace;
    assert_eq!(trace.votes.votes, [0; 6]);
    assert_eq!(trace.teacher_rows, [(0..60).collect::<Vec<u64>>()]);
}

#[test]
fn values_of_the_output_show_scaling_truncation_latent_noise_and_age() {
    let faithful = runs("");
    assert!(faithful.iter().all(|run| run.rows.iter().any(|row| row[1] > 1.0)));
    assert!(runs("U5").iter().all(|run| run.rows.iter().all(|row| row[1].abs() <= 1.0)));
    let truncated = runs("T5");
    let numbers = faithful.iter().flat_map(|run| run.rows.iter());
    let pairs: Vec<_> = numbers.zip(truncated.iter().flat_map(|run| run.rows.iter())).collect();
    assert!(pairs.iter().all(|(rounded, row)| [0.0, 1.0].contains(&(rounded[1] - row[1]))));
    assert!(pairs.iter().any(|(rounded, row)| rounded[1] != row[1]));

    let latent = |run: &Run| (run.trace.training_latent, run.trace.output_latent);
    let (training, output) = latent(&runs("E11")[0]);
    assert!((training - 1.0 / 3.0).abs() < 0.05 && output > 0.6, "{training} {output}");
    let normal = Settings { latent: Latent::Normal, ..settings() };
    let runs_of = |faults| mechanism_of(&tables::mixed(ROWS), &normal, faults).run(&[0]);
    let (training, output) = latent(&runs_of("E11")[0]);
    assert!((training - 1.0).abs() < 0.15 && output < 0.6, "{training} {output}");
    assert_eq!(faithful[0].trace.teacher_age, u64::from(5 * faithful[0].trace.iterations));
    assert_eq!(runs("U4")[0].trace.teacher_age, 5);
}

#[test]
fn no_switch_is_silent() {
    let of = |faults: &str| {
        let mechanism = mechanism(faults);
        (mechanism.run(&[0]), mechanism.release(World::Target))
    };
    let faithful = of("");
    for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::E8) {
        assert_ne!(of(fault.description().id), faithful, "{fault}");
    }
}
