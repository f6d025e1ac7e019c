//! `dpscope reproduce metagradient-canaries`.

use dpscope_tests::cli::{number, rows_of};
use serde_json::Value;

use crate::snapshots::assert_shown;
use crate::{Folder, dpscope};

const SMALL: &str =
    "reproduce metagradient-canaries --canaries 40 --runs 2 --metasteps 2 --seed 1 --threads 2";

fn list<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    value.pointer(place).and_then(Value::as_array).unwrap_or_else(|| panic!("{place}: {value}"))
}

#[test]
fn estimates_and_bounds_of_every_kind_stand_beside_published_figures() {
    let report = dpscope(&format!("{SMALL} --json")).exits(0).json();
    let sets = rows_of(&report, "sets");
    let kinds: Vec<&str> = sets.iter().filter_map(|one| one["set"].as_str()).collect();
    let expected =
        ["random", "mislabelled", "direct-only", "optimised", "optimised-rounded", "coins-redrawn"];
    assert_eq!(kinds, expected);
    let claimed = number(&report, "/facts/dpsgd/claimed_epsilon");
    assert!(claimed > 10.0 && claimed < 11.0, "{claimed}");
    for set in &sets[..5] {
        for start in ["/", "/calibrated_"] {
            let of = |name: &str| format!("{start}{name}");
            let (bounds, estimates) = (list(set, &of("bounds")), list(set, &of("estimates")));
            assert_eq!((bounds.len(), estimates.len()), (2, 2));
            let bounds = bounds.iter().filter_map(Value::as_f64);
            let least = bounds.fold(f64::INFINITY, f64::min);
            assert_eq!(number(set, &of("median_bound")), least, "the lower of two");
            assert!(number(set, &of("joint_bound")) < claimed);
        }
    }
    // every game is decided by coins that are independent of the scores
    let games = number(&report, "/facts/null/games");
    let exceeded = number(&report, "/facts/null/bounds_above_zero");
    assert!(
        games == 40.0 && exceeded <= 0.05 * games + 4.0 * (0.0475 * games).sqrt(),
        "{exceeded}"
    );
    assert_eq!(rows_of(&report, "comparisons").len(), 9);
    assert_eq!(number(&rows_of(&report, "published")[2], "/scratch_coins/0"), 0.408);
}

#[test]
fn texts_and_drawings_match_their_snapshots() {
    let folder = Folder::new();
    let ended = folder.run(&format!("{SMALL} --plot canaries.svg")).exits(0);
    assert_eq!(ended.stderr, "");
    assert_shown("reproduce_metagradient_canaries.txt", &ended.stdout);
    let svg = String::from_utf8(folder.read("canaries.svg")).unwrap();
    assert_eq!(crate::plots::problem(&svg), None);
    assert_shown("reproduce_metagradient_canaries.svg", &svg);
}

#[test]
fn options_without_effect_and_sizes_out_of_range_are_refused() {
    for (words, parts) in [
        ("metagradient-canaries --canaries 19", &["--canaries is 19", "from 20 to 1700"][..]),
        ("metagradient-canaries --runs 1", &["--runs is 1", "from 2 to 200"]),
        ("metagradient-canaries --observations 10", &["--observations", "no effect"]),
        ("metagradient-canaries --device gpu", &["--device", "no effect"]),
        ("metagradient-canaries --data missing.npz", &["missing.npz"]),
        ("metagradient-canaries --data fmnist-like --labels a", &["--labels", "no effect"]),
        ("one-run-validity --scale mlp", &["--scale", "no effect", "metagradient-canaries"]),
        ("figure-3 --metasteps 3", &["--metasteps", "no effect", "metagradient-canaries"]),
        ("published --data location-like", &["--data", "no effect", "metagradient-canaries"]),
    ] {
        dpscope(&format!("reproduce {words} --seed 1")).refuses(2, parts);
    }
}
