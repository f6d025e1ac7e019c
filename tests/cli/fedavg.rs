//! `dpscope audit fedavg`.

use dpscope_core::gdp::gdp_epsilon;
use dpscope_tests::cli::{number, text};
use serde_json::Value;

use crate::{Folder, dpscope};

const SMALL: &str = "audit fedavg --noise-multiplier 0.3 --delta 1e-6 --seed 4 --clients 40 \
                     --records-per-client 4 --rounds 6 --participation epochs:2 --local-epochs 1 \
                     --design poisson:30";

fn attacks(report: &Value) -> Vec<(&str, f64)> {
    let attacks = report["training"]["attacks"].as_array().unwrap();
    attacks
        .iter()
        .map(|attack| (text(attack, "/attacker"), number(attack, "/bounds/epsilon")))
        .collect()
}

#[test]
fn every_attack_is_reported_beside_what_is_accounted() {
    let words = format!("{SMALL} --attack known-rounds --json");
    let report = dpscope(&words).exits(0).json();
    let found = attacks(&report);
    let names: Vec<&str> = found.iter().map(|attack| attack.0).collect();
    let expected = ["final_model", "all_updates", "sum_of_updates", "known_server_rounds"];
    assert_eq!(names, expected);
    // an attacker who knows more sees more
    assert!(found[3].1 > found[1].1 && found[3].1 > found[0].1, "{found:?}");
    assert_eq!(number(&report, "/bounds/epsilon"), found[3].1);
    let accounted = number(&report, "/training/accounted/epsilon");
    assert_eq!(accounted, gdp_epsilon(2.0_f64.sqrt() / 0.3, 1e-6).unwrap());
    assert!(found.iter().all(|attack| attack.1 < accounted), "{found:?} {accounted}");
    let by_round = &report["training"]["round_by_round"];
    let [low, high] = ["/range/0", "/range/1"].map(|pointer| number(by_round, pointer));
    let mu = number(by_round, "/gdp_mu");
    assert_eq!(number(by_round, "/epsilon"), gdp_epsilon(2.0_f64.sqrt() * mu, 1e-6).unwrap());
    assert!(low < number(by_round, "/epsilon") && number(by_round, "/epsilon") < high);
    // updates of other clients hide what noise does not
    assert!(low < accounted && high < number(by_round, "/ceiling"), "{by_round}");
    assert!(number(&report, "/training/accuracy_without_canaries/mean") > 0.0);
    let shown = dpscope(SMALL).exits(0).stdout;
    for part in [
        "user level",
        "attacks     final model",
        "accounted   ε ≤",
        "by round    ε ≈",
        "without canaries",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let least = format!("{SMALL} --final-model-only --json");
    let report = dpscope(&least).exits(0).json();
    assert_eq!(attacks(&report).len(), 1);
    assert_eq!(report["training"]["round_by_round"], Value::Null);
}

#[test]
fn canaries_that_never_took_part_are_not_seen() {
    let words = "audit fedavg --noise-multiplier 1 --clients 60 --rounds 10 --participation poisson:0.1 \
                 --local-epochs 1 --records-per-client 5 --design poisson:50 --without-canaries 0 \
                 --seed 1 --attack known-rounds --claim 2.9 --json";
    let report = dpscope(words).exits(0).json();
    let finding = &report["findings"][0];
    assert_eq!(text(finding, "/code"), "missing_cosines");
    let (missing, all) = (number(finding, "/data/count"), number(finding, "/data/canaries"));
    assert!(missing > 5.0 && missing < 0.6 * all, "{missing} of {all}");
    assert!(number(&report, "/standardised_mean").abs() < 12.0);
    for estimate in report["estimates"].as_array().unwrap() {
        assert!(number(estimate, "/epsilon") < 20.0, "{estimate}");
    }
    assert_eq!(text(&report, "/verdict/outcome"), "not-refuted");
}

#[test]
fn less_noise_than_claimed_is_refuted_and_the_claimed_noise_is_not() {
    let words = "--attack known-rounds --without-canaries 0";
    let claim = gdp_epsilon(2.0_f64.sqrt() / 0.3, 1e-6).unwrap();
    for seed in 1..=3 {
        let trained = |sigma: &str| {
            let small = SMALL.replace("0.3", sigma).replace("--seed 4", &format!("--seed {seed}"));
            let small = small.replace("poisson:30", "poisson:120");
            dpscope(&format!("{small} {words} --claim {claim}"))
        };
        trained("0.3").exits(0);
        trained("0.09").exits(3);
    }
}

#[test]
fn correlated_noise_is_accounted_and_less_of_it_is_refuted() {
    // six rounds, two per participant, three apart: banded columns are orthogonal
    let words =
        "--participation min-separation:2 --attack known-rounds --without-canaries 0 --json";
    let small = SMALL.replace("--participation epochs:2", "").replace("poisson:30", "poisson:80");
    for mechanism in ["tree", "banded:3"] {
        let trained = |sigma: &str, claim: f64| {
            let small = small.replace("0.3", sigma);
            dpscope(&format!("{small} {words} --noise-mechanism {mechanism} --claim {claim}"))
        };
        let report = trained("0.3", 1000.0).exits(0).json();
        let accounted = &report["training"]["accounted"];
        let sensitivity = number(accounted, "/l2_sensitivity");
        // of the tree, a participant of the rounds 1 and 4 is in the sums 1, 1–2 and, twice, 1–4
        let expected = if mechanism == "tree" { 6.0_f64.sqrt() } else { 2.0_f64.sqrt() };
        assert!((sensitivity - expected).abs() < 1e-12, "{mechanism}: {sensitivity}");
        let claim = number(accounted, "/epsilon");
        assert_eq!(claim, gdp_epsilon(sensitivity / 0.3, 1e-6).unwrap());
        trained("0.3", claim).exits(0);
        trained("0.06", claim).exits(3);
    }
    let words = words.replace(" --json", " --noise-mechanism tree");
    let shown = dpscope(&format!("{small} {words}")).exits(0).stdout;
    for part in ["σ = 0.3 (tree)", "sensitivity 2.449"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn shards_and_resumed_runs_equal_the_undivided_run() {
    let small = format!("{SMALL} --repeats 2 --without-canaries 1");
    let folder = Folder::new();
    let whole = folder.run(&format!("{small} --json")).exits(0).json();
    for i in 1..=3 {
        let shown = folder.run(&format!("{small} --shard {i}/3 --out {i}.json")).exits(0);
        assert!(shown.stderr.contains("a result needs all of them"), "{}", shown.stderr);
    }
    let merged = folder.run("merge 3.json 1.json 2.json --json").exits(0).json();
    assert_eq!(merged["bounds"], whole["bounds"]);
    assert_eq!(merged["training"]["attacks"], whole["training"]["attacks"]);
    folder.run("merge 1.json 3.json").refuses(5, &["missing"]);
    folder.run("merge 1.json --allow-gaps").refuses(2, &["--allow-gaps"]);
    let part = format!("{small} --checkpoint part.json --shard 1/3");
    folder.run(&part).exits(0);
    let resumed = folder.run("resume part.json --out again.json").exits(0);
    assert!(resumed.stderr.contains("a result needs all of them"), "{}", resumed.stderr);
    let merged = folder.run("merge again.json 3.json 2.json --json").exits(0).json();
    assert_eq!(merged["bounds"], whole["bounds"]);
    let other = part.replace("--delta 1e-6", "--delta 1e-7");
    folder.run(&other).refuses(5, &["delta"]);
    folder.run(&part.replace("--rounds 6", "--rounds 8")).refuses(5, &["training"]);
    folder
        .run(&format!("{part} --server-momentum 0.5"))
        .refuses(5, &["part.json", "server_momentum: 0.5 here, 0.9 there"]);
}

#[test]
fn nothing_is_accounted_where_nothing_is_proven() {
    let report = |participation: &str| {
        let words = SMALL.replace("epochs:2", participation);
        dpscope(&format!("{words} --without-canaries 0 --json")).exits(0).json()
    };
    assert_eq!(report("fixed-size:20")["training"]["accounted"], Value::Null);
    let poisson = report("poisson:0.2");
    assert!(number(&poisson, "/training/accounted/epsilon") > 1.0);
    assert_eq!(poisson["training"]["accounted"]["gdp_mu"], Value::Null);
    let fixed = report("fixed-size:20 --noise-mechanism tree");
    assert_eq!(fixed["training"]["accounted"], Value::Null);
    // sampling is not known to amplify correlated noise: perhaps in all six rounds
    let poisson = report("poisson:0.2 --noise-mechanism tree");
    assert_eq!(number(&poisson, "/training/accounted/most_rounds"), 6.0);
    let separated = report("min-separation:3");
    assert_eq!(number(&separated, "/training/accounted/most_rounds"), 3.0);
}

/// Records of four sites with two features each; their numbers differ.
fn sites() -> String {
    let row = |at: u32| {
        let site = [3, 3, 3, 8, 8, 20, 20, 21][at as usize % 8];
        format!("{},{site},{},{}\n", at % 2, f64::from(at % 7) / 7.0, at % 2)
    };
    format!("label,site,a,b\n{}", (0..120).map(row).collect::<String>())
}

const LINEAR: &str = "[input]\nchannels = 2\nheight = 1\nwidth = 1\n\n[[layers]]\nkind = \"linear\"\n\
                      outputs = 2\n";

#[test]
fn clients_are_read_from_a_column() {
    let folder = Folder::new();
    folder.write("sites.csv", sites());
    folder.write("linear.toml", LINEAR);
    let options = "audit fedavg --noise-multiplier 0.3 --delta 1e-6 --seed 4 --rounds 4 \
                   --participation each-once --model linear.toml --design poisson:30 --repeats 2";
    let data = format!("{options} --data sites.csv");
    let column = format!("{data} --client-column site");
    let report = folder.run(&format!("{column} --json")).exits(0).json();
    let description = &report["training"]["description"];
    assert_eq!(text(description, "/client_column"), "site");
    assert_eq!(number(description, "/settings/clients"), 4.0);
    // 45 of 120 records are of site 3, and a tenth of each is held out
    assert_eq!(number(description, "/settings/records_per_client"), 41.0);
    assert_eq!(number(description, "/data/records"), 109.0);
    let shown = folder.run(&column).exits(0).stdout.replace("\n              ", " ");
    assert!(shown.contains("by 4 clients with at most 41 records each"), "{shown}");
    let part = format!("{column} --checkpoint part.json --shard 1/2");
    folder.run(&part).exits(0);
    let other = part.replace("column site", "column b");
    let refused = folder.run(&other).exits(5).stderr;
    assert!(refused.contains("client_column: b here, site there"), "{refused}");
    folder.run("resume part.json").refuses(2, &["--data"]);
    let resumed = folder.run("resume part.json --data sites.csv").exits(0);
    assert!(resumed.stderr.contains("a result needs all of them"), "{}", resumed.stderr);
    for (words, part) in [
        (format!("{data} --client-column user"), "no array `user`; the file contains"),
        (format!("{column} --clients 3"), "--clients"),
        (format!("{options} --client-column site"), "--data"),
        (format!("{column} --classes 0,1 --concentration 1"), "--concentration"),
    ] {
        folder.run(&words).refuses(2, &[part]);
    }
    let synthetic = SMALL.replace("--clients 40 --records-per-client 4", "--data p100-like");
    folder.run(&format!("{synthetic} --client-column site")).refuses(2, &["--client-column"]);
}

#[test]
fn bad_arguments_are_refused() {
    for (options, part) in [
        ("--participation epochs:4", "--participation: epochs is 4; it must be a divisor"),
        ("--participation never", "`never` is not each-once"),
        ("--participation poisson:2", "--participation: sampling_rate is 2"),
        ("--noise-mechanism laplace", "`laplace` is not gaussian, tree or banded:BANDS"),
        ("--noise-mechanism banded:7", "--noise-mechanism: bands is 7"),
        ("--design fixed", "pass fixed:NUMBER"),
        ("--design poisson:1e8", "--design"),
        ("--clients 1e6", "4000000 records are requested"),
        ("--rounds 0", "--rounds is 0"),
        ("--repeats 1000", "at most 500 trainings"),
        ("--server-momentum 1", "--server-momentum is 1"),
        ("--final-model-only --attack known-rounds", "needs the updates"),
        ("--canary-presentations 7", "--canary-presentations is 7"),
        (
            "--local-epochs 1000 --local-learning-rate 1e6 --server-learning-rate 1e6 --clip-norm 1e6",
            "diverged",
        ),
        ("--threshold-rule split", "--threshold-rule"),
        ("--claim-adjacency replace --claim 3", "add-remove"),
        ("--adaptive-clipping --noise-multiplier 50", "--noise-multiplier is 50"),
    ] {
        let words = match options.contains("--noise-multiplier") {
            true => SMALL.replace("--noise-multiplier 0.3", ""),
            false => SMALL.to_owned(),
        };
        let first = options.split(' ').next().unwrap();
        let words = match words.find(&format!("{first} ")) {
            Some(at) => {
                let rest = &words[at + first.len() + 1..];
                let end = rest.find(' ').map_or("", |end| &rest[end..]);
                format!("{}{end}", &words[..at])
            }
            None => words,
        };
        dpscope(&format!("{words} {options}")).refuses(2, &[part]);
    }
    dpscope(&format!("{SMALL} --device no-such-gpu")).refuses(4, &["no device `no-such-gpu`"]);
}
