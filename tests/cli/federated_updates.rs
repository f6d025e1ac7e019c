//! `dpscope audit federated` with the update or the model of every server round.

use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, CosineNull, NullTails};
use dpscope_formats::{Limits, read_npy};
use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::Folder;
use crate::trainer::{bytes, npy, npy_f8};

const DIMENSION: usize = 5_000;
const ROUNDS: usize = 12;
const MEAN: f64 = 12.0;
const NOISE: f64 = 0.1;

/// A committed plan, the directions of its canaries, and the update of every server round.
pub(crate) struct Training {
    pub(crate) folder: Folder,
    directions: Vec<Vec<f64>>,
    /// The server rounds of each canary, from 0.
    participation: Vec<Vec<usize>>,
    pub(crate) updates: Vec<Vec<f64>>,
}

impl Training {
    fn new(attacker: &str) -> Self {
        Self::with(attacker, |canary| vec![canary % ROUNDS, (5 * canary + 1) % ROUNDS])
    }

    pub(crate) fn with(attacker: &str, rounds: impl Fn(usize) -> Vec<usize>) -> Self {
        Self::planned(&format!("poisson:{MEAN}"), attacker, rounds)
    }

    /// A plan of a design, with an attacker and other options.
    pub(crate) fn planned(
        design: &str,
        attacker: &str,
        rounds: impl Fn(usize) -> Vec<usize>,
    ) -> Self {
        let folder = Folder::new();
        let words = format!(
            "plan federated --design {design} --delta 1e-6 --dimension {DIMENSION} --attacker \
             {attacker} --out plan"
        );
        folder.run(&words).exits(0);
        let direction = |index: u64| {
            let words = format!("canaries direction --plan plan --index {index} --out c.npy");
            let is_planned = folder.run(&words).code == Some(0);
            is_planned.then(|| read_npy(&folder.read("c.npy"), &Limits::default()).unwrap())
        };
        let directions: Vec<Vec<f64>> =
            (0..).map_while(direction).map(dpscope_formats::Array::into_data).collect();
        let mut participation: Vec<Vec<usize>> = (0..directions.len()).map(rounds).collect();
        for rounds in &mut participation {
            rounds.sort_unstable();
            rounds.dedup();
        }
        let mut draws = Draws::new(5);
        let mut updates: Vec<Vec<f64>> =
            (0..ROUNDS).map(|_| (0..DIMENSION).map(|_| NOISE * draws.normal()).collect()).collect();
        for (direction, rounds) in directions.iter().zip(&participation) {
            for &round in rounds {
                updates[round].iter_mut().zip(direction).for_each(|(sum, c)| *sum += c);
            }
        }
        Self { folder, directions, participation, updates }
    }

    /// Lets canaries arrive with other norms than 1.
    pub(crate) fn scale_canaries(&mut self, norms: &[f64]) {
        let canaries = self.directions.iter().zip(&self.participation);
        for ((direction, rounds), norm) in canaries.zip(norms) {
            for &round in rounds {
                let update = &mut self.updates[round];
                update.iter_mut().zip(direction).for_each(|(sum, c)| *sum += (norm - 1.0) * c);
            }
        }
    }

    pub(crate) fn write_updates(&self) {
        for (round, update) in self.updates.iter().enumerate() {
            let name = format!("updates/round-{}.npy", round + 1);
            self.folder.write(&name, npy_f8(&[DIMENSION], update));
        }
    }

    pub(crate) fn write_participation(&self) {
        let rows = self.participation.iter().enumerate().flat_map(|(canary, rounds)| {
            rounds.iter().map(move |round| format!("{canary},{}\n", round + 1))
        });
        let rows: String = rows.collect();
        self.folder.write("participation.csv", format!("canary,server_round\n{rows}"));
    }

    /// The cosines of an attacker, by loops over f64.
    fn cosines(&self, attacker: &str) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let cosine = |c: &[f64], a: &[f64]| dot(c, a) / dot(a, a).sqrt();
        let sum = |rounds: &[usize], weights: &[f64]| -> Vec<f64> {
            let entry = |i: usize| rounds.iter().map(|&t| weights[t] * self.updates[t][i]).sum();
            (0..DIMENSION).map(entry).collect()
        };
        let all: Vec<usize> = (0..ROUNDS).collect();
        let to_unit = |update: &Vec<f64>| dot(update, update).sqrt().recip();
        let units: Vec<f64> = self.updates.iter().map(to_unit).collect();
        let of = |(c, rounds): (&Vec<f64>, &Vec<usize>)| match attacker {
            "all-updates --server-rounds 12" => {
                self.updates.iter().map(|update| cosine(c, update)).fold(-1.0, f64::max)
            }
            "sum-of-updates" => cosine(c, &sum(&all, &units)),
            _ => cosine(c, &sum(rounds, &[1.0; ROUNDS])),
        };
        self.directions.iter().zip(&self.participation).map(of).collect()
    }

    fn epsilon(&self, attacker: &str) -> f64 {
        let null = CosineNull::new(DIMENSION as u64).unwrap();
        let rounds = if attacker.starts_with("all") { ROUNDS as u64 } else { 1 };
        let tail = |&cosine: &f64| null.ln_tail_of_maximum(cosine, rounds).unwrap();
        let tails = NullTails::new(self.cosines(attacker).iter().map(tail).collect()).unwrap();
        let any = AnyMechanism::new(CanaryDesign::Poisson { mean: MEAN }).unwrap();
        any.epsilon_lower(&tails, 1e-6, 0.05).unwrap()
    }

    fn audit(&self, words: &str) -> Value {
        self.folder.run(&format!("audit federated --plan plan {words} --json")).exits(0).json()
    }
}

fn check(report: &Value, expected: f64) {
    let epsilon = number(report, "/bounds/epsilon");
    assert!(expected > 3.0 && (epsilon - expected).abs() < 1e-3 * expected, "{epsilon} {expected}");
    assert_eq!(text(report, "/kind"), "bound");
}

#[test]
fn each_attacker_has_the_scores_of_f64_loops() {
    for attacker in ["all-updates --server-rounds 12", "sum-of-updates", "known-server-rounds"] {
        let training = Training::new(attacker);
        training.write_updates();
        training.write_participation();
        let knows =
            if attacker.starts_with("known") { "--participation participation.csv" } else { "" };
        let report = training.audit(&format!("--updates updates {knows}"));
        check(&report, training.epsilon(attacker));
        assert_eq!(text(&report, "/input/updates"), "updates");
    }
}

#[test]
fn models_are_audited_by_their_changes_without_momentum() {
    let training = Training::new("all-updates --server-rounds 12");
    let mut model = vec![0.25; DIMENSION];
    let mut change = vec![0.0; DIMENSION];
    let write =
        |name: &str, model: &[f64]| training.folder.write(name, npy_f8(&[DIMENSION], model));
    write("start.npy", &model);
    for (round, update) in training.updates.iter().enumerate() {
        for ((change, update), model) in change.iter_mut().zip(update).zip(&mut model) {
            *change = 0.9 * *change + update;
            *model += *change;
        }
        write(&format!("models/{round}.npy"), &model);
    }
    let report = training.audit("--initial start.npy --models models --momentum 0.9");
    check(&report, training.epsilon("all-updates --server-rounds 12"));
    // momentum is part of the statistic
    let other = "audit federated --plan plan --initial start.npy --models models";
    training.folder.run(other).refuses(5, &["another momentum", "commit a new plan"]);
}

#[test]
fn a_plan_is_bound_to_its_updates_and_their_order() {
    let training = Training::new("sum-of-updates");
    training.write_updates();
    let first = training.audit("--updates updates");
    let again = training.audit("--updates updates");
    assert_eq!(first["bounds"], again["bounds"]);
    let names = |order: &mut dyn Iterator<Item = usize>| -> String {
        order.map(|round| format!(" updates/round-{}.npy", round + 1)).collect()
    };
    // the folder is in the order of numbers, not of letters
    let listed = training.audit(&format!("--updates{}", names(&mut (0..ROUNDS))));
    assert_eq!(first["bounds"], listed["bounds"]);
    let reversed = names(&mut (0..ROUNDS).rev());
    let words = format!("audit federated --plan plan --updates{reversed}");
    training.folder.run(&words).refuses(5, &["another order", "plan"]);
    let fewer = names(&mut (1..ROUNDS));
    training.folder.run(&format!("audit federated --plan plan --updates{fewer}")).exits(5);
}

/// A safetensors file of f32 or bf16.
pub(crate) fn safetensors(arrays: &[(&str, &str, &[f64])]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for &(name, dtype, values) in arrays {
        let first = data.len();
        for &value in values {
            let bytes = (value as f32).to_le_bytes();
            data.extend(if dtype == "BF16" { &bytes[2..] } else { &bytes[..] });
        }
        let info = serde_json::json!({
            "dtype": dtype, "shape": [values.len()], "data_offsets": [first, data.len()],
        });
        header.insert(name.to_owned(), info);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

#[test]
fn rows_shards_and_half_precision_have_the_same_scores() {
    let training = Training::new("sum-of-updates");
    training.folder.write("rows.npy", npy_f8(&[ROUNDS, DIMENSION], &training.updates.concat()));
    let rows = training.audit("--updates rows.npy");
    check(&rows, training.epsilon("sum-of-updates"));
    // held in memory, since no part can be read alone
    let column = |at: usize| training.updates.iter().map(move |update| update[at]);
    let columns: Vec<f64> = (0..DIMENSION).flat_map(column).collect();
    let fortran = npy("<f8", true, &[ROUNDS, DIMENSION], &bytes(&columns));
    training.folder.write("fortran.npy", fortran);
    assert_eq!(training.audit("--updates fortran.npy")["bounds"], rows["bounds"]);
    let all = training.updates.concat();
    let big: Vec<u8> = all.iter().flat_map(|value| value.to_be_bytes()).collect();
    training.folder.write("big.npy", npy(">f8", false, &[ROUNDS, DIMENSION], &big));
    assert_eq!(training.audit("--updates big.npy")["bounds"], rows["bounds"]);

    let sharded = Training::new("sum-of-updates");
    let index = serde_json::json!({
        "weight_map": {"a": "one.safetensors", "b": "two.safetensors", "c": "two.safetensors"}
    });
    for (round, update) in sharded.updates.iter().enumerate() {
        let at = |name: &str| format!("updates/{round}/{name}");
        let (a, rest) = update.split_at(4_200);
        let (b, c) = rest.split_at(7);
        sharded.folder.write(&at("model.safetensors.index.json"), index.to_string());
        sharded.folder.write(&at("one.safetensors"), safetensors(&[("a", "F32", a)]));
        let two = safetensors(&[("b", "F32", b), ("c", "BF16", c)]);
        sharded.folder.write(&at("two.safetensors"), two);
    }
    let report = sharded.audit("--updates updates");
    let expected = sharded.epsilon("sum-of-updates");
    let epsilon = number(&report, "/bounds/epsilon");
    assert!((epsilon - expected).abs() < 0.02 * expected, "{epsilon} {expected}");
    sharded.folder.write("updates/3/one.safetensors", safetensors(&[("b", "F32", &[0.5; 4_200])]));
    sharded
        .folder
        .run("audit federated --plan plan --updates updates")
        .refuses(2, &["two.safetensors", "array `b`", "one.safetensors"]);
}

#[test]
fn a_canary_without_a_server_round_is_not_seen() {
    let rounds = |canary: usize| if canary == 0 { Vec::new() } else { vec![canary % ROUNDS] };
    let training = Training::with("known-server-rounds", rounds);
    training.write_updates();
    training.write_participation();
    let report = training.audit("--updates updates --participation participation.csv --claim 900");
    let codes: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|found| text(found, "/code")).collect();
    assert_eq!(codes, ["missing_cosines"]);
    assert_eq!(number(&report, "/findings/0/data/count"), 1.0);
    assert_eq!(text(&report, "/verdict/outcome"), "not-refuted");
    assert!(number(&report, "/standardised_mean") > 0.0);
}

#[test]
fn updates_without_canaries_show_nothing() {
    let training = Training::with("all-updates --server-rounds 12", |_| Vec::new());
    training.write_updates();
    let report = training.audit("--updates updates");
    // fresh seeds: the bound exceeds 4 by chance in less than 0.1 % of the runs
    assert!(number(&report, "/bounds/epsilon") < 4.0);
}

#[test]
fn bad_updates_are_refused_with_their_place() {
    let training = Training::new("sum-of-updates");
    let folder = &training.folder;
    let whole = npy_f8(&[DIMENSION], &training.updates[0]);
    let refused = |name: &str, bytes: &[u8], parts: &[&str]| {
        folder.write(name, bytes);
        let words = format!("audit federated --plan plan --updates good.npy {name}");
        let mut expected = vec![name];
        expected.extend(parts);
        folder.run(&words).refuses(2, &expected);
    };
    folder.write("good.npy", &whole);
    refused("short.npy", &whole[..whole.len() - 3], &["truncated", "save it again"]);
    refused("other.npy", &npy_f8(&[10], &[1.0; 10]), &["10 parameters", "5000", "save only"]);
    refused("zero.npy", &npy_f8(&[DIMENSION], &[0.0; DIMENSION]), &["0 everywhere", "pass only"]);
    let mut diverged = training.updates[1].clone();
    diverged[7] = f64::NAN;
    refused("nan.npy", &npy_f8(&[DIMENSION], &diverged), &["NaN", "element 7", "diverged"]);
    refused(
        "two.npy",
        &npy_f8(&[2, 2_500], &training.updates[1]),
        &["different arrays", "good.npy"],
    );
    let mut huge = npy_f8(&[DIMENSION], &training.updates[1]);
    let place = huge.windows(5).position(|part| part == b"5000,").unwrap();
    huge[place..place + 4].copy_from_slice(b"9999");
    refused("huge.npy", &huge, &["79992 bytes", "truncated"]);
    let text: String = training.updates[1].iter().map(|x| format!("{x}\n")).collect();
    refused("text.csv", text.as_bytes(), &["np.save"]);
    refused("long.npy", &npy_f8(&[3, 10], &[1.0; 30]), &["30 parameters"]);

    let audit = |words: &str| folder.run(&format!("audit federated --plan plan {words}"));
    audit("--updates rows.npy").refuses(2, &["rows.npy", "cannot be read"]);
    folder.write("rows.npy", npy_f8(&[3, 10], &[1.0; 30]));
    audit("--updates rows.npy").refuses(2, &["rows.npy", "(3, 10)", "one row of 5000"]);
    audit("--updates good.npy --momentum 1").refuses(2, &["--momentum"]);
    audit("--updates good.npy --participation good.npy").refuses(2, &["--participation"]);
    audit("--updates good.npy --initial good.npy").exits(2);
    audit("--models good.npy").exits(2);
    audit("--initial good.npy --momentum 0.5").exits(2);
    #[cfg(unix)]
    {
        folder.write("linked/1.npy", &whole);
        std::os::unix::fs::symlink("1.npy", folder.at("linked/2.npy")).unwrap();
        audit("--updates linked").refuses(2, &["2.npy", "symbolic link"]);
    }
}

#[test]
fn a_plan_and_its_files_must_agree() {
    let training = Training::new("all-updates --server-rounds 11");
    training.write_updates();
    let folder = &training.folder;
    let words = "audit federated --plan plan --updates updates";
    folder.run(words).refuses(2, &["12 server rounds", "the plan has 11"]);
    let known = Training::new("known-server-rounds");
    known.write_updates();
    known.folder.run(words).refuses(2, &["--participation is missing"]);
    for (rows, parts) in [
        ("0,13\n", ["server_round 13", "row 1"]),
        ("0,0\n", ["server_round 0", "numbered from 1"]),
        ("0,1\n99,1\n", ["canary 99", "row 2"]),
        ("0,2\n0,2\n", ["twice", "server round 2"]),
    ] {
        known.folder.write("p.csv", format!("canary,server_round\n{rows}"));
        known.folder.run(&format!("{words} --participation p.csv")).refuses(2, &parts);
    }
    let last = Training::new("final-model");
    last.write_updates();
    last.folder.run(words).refuses(2, &["sees the final model only", "--final"]);
}
