//! `dpscope check`: findings, verdicts and bad files.

use dpscope_tests::cli::{CommandResult, number, text};
use serde_json::Value;

use crate::{Folder, codes, dpscope};

/// A consistent training run; later options replace earlier ones.
const TRAINING: [(&str, &str); 9] = [
    ("dataset-size", "60000"),
    ("batch-size", "250"),
    ("epochs", "20"),
    ("noise-multiplier", "1.1"),
    ("loader", "poisson"),
    ("accountant", "poisson"),
    ("claim", "3"),
    ("delta", "1e-5"),
    ("claim-adjacency", "zero-out"),
];

fn words(changes: &[(&str, &str)]) -> String {
    let mut options: Vec<(&str, &str)> = TRAINING.to_vec();
    for &(name, value) in changes {
        options.retain(|known| known.0 != name);
        options.push((name, value));
    }
    let flag = |(name, value): &(&str, &str)| format!("--{name}={value}");
    let flags: Vec<String> = options.iter().filter(|o| !o.1.is_empty()).map(flag).collect();
    format!("check {}", flags.join(" "))
}

fn check(changes: &[(&str, &str)]) -> CommandResult {
    dpscope(&words(changes))
}

fn report(changes: &[(&str, &str)], code: i32) -> Value {
    dpscope(&format!("{} --json", words(changes))).exits(code).json()
}

fn finding<'r>(report: &'r Value, code: &str) -> &'r Value {
    let findings = report.pointer("/findings").and_then(Value::as_array).unwrap();
    let found = findings.iter().find(|finding| text(finding, "/code") == code);
    assert!(found.is_some(), "no {code} in {report:#}");
    found.unwrap()
}

#[test]
fn consistent_set_ups_are_not_refuted() {
    let report = report(&[], 0);
    assert_eq!(text(&report, "/schema"), "dpscope.check/1");
    assert_eq!(text(&report, "/claim/verdict"), "holds-as-described");
    assert_eq!(codes(&report), ["claim-covered"]);
    assert_eq!(number(&report, "/steps"), 4800.0);
    assert!((number(&report, "/sampling_rate") - 250.0 / 60_000.0).abs() < 1e-15);
    let (lower, upper) = (number(&report, "/lower/epsilon"), number(&report, "/upper/epsilon"));
    assert!(lower <= upper && upper - lower < 1e-3, "{lower} {upper}");
    let shown = check(&[]).exits(0).stdout;
    for part in [": holds for the training as described\n", "satisfies the claim:"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("proves nothing"), "{shown}");
}

#[test]
fn claims_below_the_lower_bound_are_refuted() {
    let changes = [("loader", "shuffle"), ("noise-multiplier", "0.7")];
    let found = report(&changes, 3);
    assert_eq!(text(&found, "/claim/verdict"), "refuted");
    assert_eq!(codes(&found), ["claim-below-bound", "claim-below-accountant", "other-sampler"]);
    assert_eq!(text(&found, "/findings/0/severity"), "refutes");
    let lower = number(&found, "/lower/epsilon");
    assert_eq!(number(finding(&found, "claim-below-bound"), "/lower"), lower);
    assert!(lower < number(&found, "/upper/epsilon"));
    assert_eq!(text(&found, "/lower/scope"), "pair");
    assert_eq!(text(&found, "/upper/scope"), "mechanism");
    // Just above the bound the same claim is not refuted.
    let above = (lower + 1e-6).to_string();
    let kept = report(&[changes[0], changes[1], ("claim", &above)], 6);
    assert_eq!(text(&kept, "/claim/verdict"), "inconclusive");
    assert!(!codes(&kept).contains(&"claim-below-bound"));
    let next = text(&found, "/next/0");
    assert!(next.starts_with("dpscope calibrate noise --sampler shuffle --epsilon 3 "), "{next}");
}

#[test]
fn an_add_remove_claim_is_confirmed_only_where_records_are_drawn_independently() {
    for (loader, more) in [
        ("shuffle", ("buffer-examples", "")),
        ("persistent-shuffle", ("epochs", "2")),
        ("batch-then-shuffle", ("buffer-examples", "")),
        ("deterministic", ("accountant", "deterministic")),
        ("partial-shuffle", ("buffer-examples", "10000")),
        ("sliding-buffer", ("buffer-examples", "10000")),
    ] {
        let changes = [("loader", loader), ("claim", "900"), more];
        let upper = number(&report(&changes, 0), "/upper/epsilon");
        let removed = report(&[&changes[..], &[("claim-adjacency", "add-remove")]].concat(), 6);
        assert!(removed["upper"].is_null(), "{loader}");
        assert_eq!(number(finding(&removed, "upper-bound-for-zero-out"), "/upper"), upper);
    }
    for loader in ["poisson", "balls-in-bins", "random-allocation"] {
        let [removed, replaced] = ["add-remove", "replace"].map(|adjacency| {
            report(&[("loader", loader), ("claim", "900"), ("claim-adjacency", adjacency)], 0)
        });
        for covered in [&removed, &replaced] {
            assert!(codes(covered).contains(&"claim-covered"), "{loader}");
        }
        // a replaced record is one that is removed and one that is added
        assert!(number(&replaced, "/lower/epsilon") > number(&removed, "/upper/epsilon"));
        assert!(text(&replaced, "/claim/note").contains("both replace a record"), "{loader}");
    }
    let shown = check(&[("loader", "shuffle"), ("claim-adjacency", "add-remove")]).exits(3).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "no upper bound is proven under add/remove adjacency: if a record is removed, those after it",
        "does not satisfy the claimed epsilon and delta under add/remove adjacency: proven",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("--sampler shuffle"), "{shown}");
    let claims = [("loader", "shuffle"), ("claim", "0.1"), ("claim-adjacency", "replace")];
    assert_eq!(report(&claims, 3)["next"].as_array().map(Vec::len), Some(0));
}

#[test]
fn poisson_loaders_are_not_advised_to_draw_poisson_batches() {
    let shown = check(&[("claim", "0.5")]).exits(3).stdout;
    assert!(shown.contains("Claim more, or add noise."), "{shown}");
    assert!(shown.contains("To find the noise for this claim:\n"), "{shown}");
    assert!(!shown.contains("Poisson batches"), "{shown}");
    let shuffled = check(&[("claim", "0.5"), ("loader", "shuffle")]).exits(3).stdout;
    assert!(shuffled.contains("or with Poisson batches"), "{shuffled}");
}

#[test]
fn incomplete_epochs_are_rounded_outward() {
    let of = |length: &[(&str, &str)], loader: &str| {
        let changes = [("dataset-size", "45000"), ("batch-size", "4096"), ("claim", "0")];
        report(&[&changes[..], &[("epochs", ""), ("loader", loader)], length].concat(), 3)
    };
    let bounds = |found: &Value| ["/lower/epsilon", "/upper/epsilon"].map(|at| number(found, at));
    let partial = of(&[("total-steps", "906")], "shuffle");
    assert_eq!(number(&partial, "/steps"), 906.0);
    assert_eq!(number(&partial, "/setup/partial_epoch_steps"), 4.0);
    let [down, up] = ["82", "83"].map(|epochs| of(&[("epochs", epochs)], "shuffle"));
    assert_eq!(bounds(&partial), [bounds(&down)[0], bounds(&up)[1]]);
    let [fraction, more] = ["82.3", "82.4"].map(|epochs| of(&[("epochs", epochs)], "poisson"));
    assert_eq!([number(&fraction, "/steps"), number(&more, "/steps")], [906.0, 907.0]);
    assert!(bounds(&fraction)[1] < bounds(&more)[1]);
}

#[test]
fn less_shuffling_raises_the_lower_bound() {
    let mut lowers = Vec::new();
    for (loader, buffer) in [
        ("shuffle", ""),
        ("sliding-buffer", "10000"),
        ("partial-shuffle", "10000"),
        ("batch-then-shuffle", ""),
        ("deterministic", ""),
    ] {
        let found = report(&[("loader", loader), ("buffer-examples", buffer), ("claim", "0.1")], 3);
        let (lower, upper) = (number(&found, "/lower/epsilon"), number(&found, "/upper/epsilon"));
        assert!(lower > 0.0 && lower <= upper, "{loader}: {lower} {upper}");
        lowers.push(lower);
        let buffered = codes(&found).contains(&"buffer-below-data");
        assert_eq!(buffered, !buffer.is_empty(), "{loader}");
    }
    assert!(lowers.is_sorted(), "{lowers:?}");
    for loader in ["persistent-shuffle", "balls-in-bins"] {
        let found = report(&[("loader", loader), ("claim", "0.1"), ("epochs", "4")], 3);
        assert!(number(&found, "/lower/epsilon") <= number(&found, "/upper/epsilon"), "{loader}");
    }
    // A buffer of all records is a shuffle.
    let whole = [("loader", "sliding-buffer"), ("buffer-examples", "60000"), ("claim", "0.1")];
    let whole = report(&whole, 3);
    assert_eq!(number(&whole, "/lower/epsilon"), lowers[0]);
    assert!(!codes(&whole).contains(&"buffer-below-data"));
}

#[test]
fn step_counts_are_checked_against_the_loader() {
    let mnist = [("batch-size", "256"), ("loader", "shuffle"), ("claim", "9")];
    let report_of = |drop: &str, steps: &str| {
        let changes = [&mnist[..], &[("drop-last", drop), ("accounted-steps", steps)]].concat();
        report(&changes, 6)
    };
    for (drop, steps, reading) in [
        ("false", "4680", "last-batch-dropped"),
        ("true", "4700", "last-batch-kept"),
        ("false", "4687", "epochs-rounded"),
        ("false", "4688", "epochs-rounded"),
        ("true", "234", "one-epoch"),
        ("true", "20", "epochs"),
    ] {
        let found = report_of(drop, steps);
        let differ = finding(&found, "steps-differ");
        assert_eq!(text(differ, "/reading"), reading, "{steps}");
        let actual = if drop == "true" { 4680.0 } else { 4700.0 };
        assert_eq!(number(differ, "/actual"), actual);
        assert_eq!(number(&found, "/steps"), actual);
    }
    assert!(finding(&report_of("true", "7"), "steps-differ")["reading"].is_null());
    let [dropped, kept] = [report_of("true", "4680"), report_of("false", "4700")];
    assert!(!codes(&dropped).contains(&"steps-differ"));
    assert_eq!(number(finding(&dropped, "records-left-out"), "/records"), 96.0);
    assert_eq!(number(finding(&kept, "partial-last-batch"), "/records"), 96.0);
    assert!(number(&dropped, "/lower/epsilon") > 0.0);
}

#[test]
fn sampling_rates_and_deltas_are_checked_against_the_data() {
    let found = report(&[("accounted-sampling-rate", "0.01")], 0);
    let differs = finding(&found, "sampling-rate-differs");
    assert!((number(differs, "/actual") - 250.0 / 60_000.0).abs() < 1e-15);
    for rate in ["0.00417", "0.0041666"] {
        let found = report(&[("accounted-sampling-rate", rate)], 0);
        assert!(!codes(&found).contains(&"sampling-rate-differs"), "{rate}");
    }
    // A loader of whole batches per epoch has one more.
    let few = [("dataset-size", "10"), ("batch-size", "4"), ("claim", "90"), ("delta", "0.01")];
    for (rate, differs) in [("0.4", false), ("0.3334", false), ("0.5", true)] {
        let found = report(&[&few[..], &[("accounted-sampling-rate", rate)]].concat(), 0);
        assert_eq!(codes(&found).contains(&"sampling-rate-differs"), differs, "{rate}");
    }
    for (delta, is_large) in [("1e-4", true), ("1.7e-5", true), ("1.6e-5", false)] {
        let found = report(&[("delta", delta)], 0);
        assert_eq!(codes(&found).contains(&"delta-not-below-one-record"), is_large, "{delta}");
    }
}

#[test]
fn noise_scaled_by_the_batch_size_is_detected() {
    let noise = |std: &str, on: &str, code: i32| {
        let drawn = [("noise-std", std), ("clip-norm", "0.5"), ("noise-on", on)];
        report(&drawn, code)
    };
    assert_eq!(codes(&noise("0.55", "sum", 0)), ["claim-covered"]);
    // The right noise for means of 250 records; Poisson batches have more or fewer.
    let of_means = noise("0.0022", "mean", 6);
    assert!(codes(&of_means).contains(&"noise-of-random-size"));
    assert!(!codes(&of_means).contains(&"noise-scaled-by-batch-size"));
    assert!(of_means["upper"].is_null());
    // 1/250 of the noise for a sum, on the sum.
    let little = noise("0.0022", "sum", 3);
    assert!(codes(&little).contains(&"noise-scaled-by-batch-size"));
    assert!((number(&little, "/noise_multiplier") - 0.0044).abs() < 1e-15);
    assert!(number(&little, "/lower/epsilon") > 80.0);
    // 250 times too much noise refutes nothing, but is reported.
    let much = noise("0.55", "mean", 6);
    assert!(codes(&much).contains(&"noise-scaled-by-batch-size"));
    assert!(codes(&noise("0.3", "sum", 3)).contains(&"noise-differs"));
}

#[test]
fn claims_below_the_accountant_are_reported() {
    // At high noise the shuffle's bound stays below Poisson accounting.
    let found = report(&[("loader", "shuffle"), ("noise-multiplier", "4"), ("claim", "0.24")], 6);
    let slip = finding(&found, "claim-below-accountant");
    assert!(number(slip, "/lower") > 0.24);
    assert_eq!(text(slip, "/accountant"), "poisson");
    let known = report(&[("accountant", "")], 0);
    assert!(codes(&known).contains(&"accountant-unknown"));
    let quiet = [("loader", "shuffle"), ("noise-multiplier", "4")];
    let covered = report(&[&quiet[..], &[("accountant", "deterministic")]].concat(), 6);
    assert!(!codes(&covered).contains(&"other-sampler"));
    let wrong = report(&[("accountant", "deterministic"), ("claim", "30")], 0);
    assert!(codes(&wrong).contains(&"other-sampler"));
}

/// Confusions that projects had, as their threads describe them.
#[test]
fn common_mistakes_are_detected() {
    // google-deepmind/jax_privacy issue 84: batches in file order, accounted as Poisson.
    let in_order = report(&[("loader", "deterministic"), ("batch-size", "256")], 3);
    assert_eq!(codes(&in_order)[..2], ["claim-below-bound", "other-sampler"]);
    // google-deepmind/jax_privacy pull request 272: the default shuffles, the accountant does not.
    let shuffled = report(&[("loader", "shuffle"), ("noise-multiplier", "0.8")], 3);
    assert!(codes(&shuffled).contains(&"other-sampler"));
    // tensorflow/privacy issue 483: shuffled once an epoch; neither accountant describes it.
    let beam = [("loader", "sliding-buffer"), ("buffer-examples", "10000"), ("batch-size", "256")];
    let beam = report(&beam, 3);
    for code in ["other-sampler", "buffer-below-data", "partial-last-batch"] {
        assert!(codes(&beam).contains(&code), "{code}");
    }
    // meta-pytorch/opacus issue 813: the rate of a sampler of 128 records, for 100,000.
    let weighted = [
        ("dataset-size", "100000"),
        ("batch-size", "16"),
        ("epochs", "1"),
        ("accounted-sampling-rate", "0.125"),
        ("claim", "300"),
        ("delta", "1e-6"),
    ];
    let weighted = report(&weighted, 0);
    let rate = finding(&weighted, "sampling-rate-differs");
    assert_eq!([number(rate, "/accounted"), number(rate, "/actual")], [0.125, 0.000_16]);
}

#[test]
fn options_override_the_file() {
    let folder = Folder::new();
    let example = folder.run("check --example").exits(0).stdout;
    folder.write("training.toml", &example);
    let found = folder.run("check training.toml --json").json();
    assert_eq!(number(&found, "/steps"), 4700.0);
    let dropped = folder.run("check training.toml --drop-last --json").json();
    assert_eq!(number(&dropped, "/steps"), 4680.0);
    folder.write("training.toml", example.replace("drop_last = false", "drop_last = true"));
    let kept = folder.run("check training.toml --drop-last=false --epochs 10 --json").json();
    assert_eq!(number(&kept, "/steps"), 2350.0);
    // Every optional line of the example is a valid one.
    let all = example.replace("\n# ", "\n").lines().filter(|line| line.contains(" = ")).count();
    assert_eq!(all, 20);
}

#[test]
fn file_errors_name_the_file_and_the_key() {
    let folder = Folder::new();
    let example = folder.run("check --example").exits(0).stdout;
    let refuses = |from: &str, to: &str, parts: &[&str]| {
        assert!(example.contains(from), "{from}");
        folder.write("bad.toml", example.replace(from, to));
        let parts = [&["bad.toml"], parts].concat();
        folder.run("check bad.toml").refuses(2, &parts);
    };
    refuses("batch_size", "batchsize", &["unknown key `batchsize`", "did you mean `batch_size`"]);
    refuses("= 60000", "= \"60000\"", &["dataset_size: invalid type: string \"60000\"", "integer"]);
    refuses("= 60000", "= -5", &["dataset_size: invalid value: integer `-5`", "integer"]);
    refuses("= 256", "= 0", &["batch_size is 0", "at least 1"]);
    refuses(
        "= 256",
        "= 70000",
        &["batch_size is 70000", "cannot have more records than the data set"],
    );
    refuses("= 20\n", "= 0\n", &["epochs is 0", "above 0"]);
    refuses("# total_steps", "total_steps", &["epochs and total_steps exclude each other"]);
    refuses("= 1.1\n\n# The claim", "= nan\n\n# The claim", &["noise_multiplier is NaN"]);
    refuses("= 1.1\n\n# The claim", "= -1\n\n# The claim", &["noise_multiplier is -1"]);
    refuses("claim = 1.5", "claim = nan", &["claimed epsilon is NaN", ">= 0"]);
    refuses(
        "claim = 1.5",
        "claim = \"low\"",
        &["claim: invalid type: string \"low\"", "without quotes"],
    );
    refuses("delta = 1e-5", "delta = 0.0", &["delta is 0"]);
    refuses("delta = 1e-5", "", &["delta is missing"]);
    refuses("\"shuffle\"", "\"random\"", &["loader: ", "random", "sliding-buffer"]);
    refuses("\"shuffle\"", "3", &["loader: ", "a name in quotes"]);
    refuses("\"shuffle\"", "\"sliding-buffer\"", &["buffer_examples is missing"]);
    refuses("# buffer_examples", "buffer_examples", &["buffer_examples = 10000", "leave it out"]);
    refuses(
        "drop_last = false",
        "drop_last = \"no\"",
        &["drop_last: invalid type: string \"no\"", "boolean"],
    );
    refuses("# clip_norm", "clip_norm", &["clip_norm has no effect without noise_std"]);
    refuses("# noise_std", "noise_std", &["clip_norm is missing"]);
    refuses("# claim_adjacency = \"add", "claim_adjacency = \"any", &["zero-out", "any-remove"]);
    refuses("# accounted_steps = 4700", "accounted_steps = 0", &["accounted_steps is 0"]);
    refuses("# accounted_sampling_rate = 0", "accounted_sampling_rate = 2", &["is 2.004267"]);
    refuses("dataset_size", "dataset size", &["not valid TOML"]);
    folder.write("bad.toml", "[".repeat(60_000));
    let deep = folder.run("check bad.toml").refuses(2, &["bad.toml", "not valid TOML: line 1"]);
    assert!(deep.stderr.len() < 300, "{}", deep.stderr);
    folder.write("bad.toml", "#".repeat((64 << 10) + 1));
    folder.run("check bad.toml").refuses(2, &["bad.toml", "larger than the limit of 65536 bytes"]);
    folder.write("bad.toml", [0xff, 0xfe]);
    folder.run("check bad.toml").refuses(2, &["bad.toml", "UTF-8"]);
    folder.run("check absent.toml").refuses(2, &["absent.toml", "cannot be read"]);
    folder.run("check .").refuses(2, &["directory"]);
}

#[test]
fn bad_options_are_rejected() {
    for (name, value, parts) in [
        ("dataset-size", "0", &["--dataset-size is 0"][..]),
        ("dataset-size", "nan", &["--dataset-size"]),
        ("batch-size", "60001", &["--batch-size is 60001"]),
        ("epochs", "1000001", &["--epochs is 1000001"]),
        ("noise-multiplier", "nan", &["--noise-multiplier is NaN"]),
        ("noise-multiplier", "0", &["--noise-multiplier is 0"]),
        ("claim", "-1", &["--claim", ">= 0"]),
        ("claim", "inf", &["--claim", ">= 0"]),
        ("delta", "1", &["--delta"]),
        ("loader", "random", &["--loader", "sliding-buffer"]),
        ("accounted-sampling-rate", "nan", &["--accounted-sampling-rate is NaN"]),
        ("accounted-steps", "-1", &["--accounted-steps"]),
    ] {
        check(&[(name, value)]).refuses(2, parts);
    }
    check(&[("noise-std", "inf"), ("clip-norm", "1")]).refuses(2, &["--noise-std is inf"]);
    check(&[("noise-std", "1"), ("clip-norm", "0")]).refuses(2, &["--clip-norm is 0"]);
    check(&[("noise-std", "1e-9"), ("clip-norm", "1")])
        .refuses(2, &["noise multiplier", "--noise-on"]);
    check(&[("loader", "truncated-poisson")])
        .refuses(2, &["--max-batch-size is missing and sampler"]);
    check(&[("max-batch-size", "300")]).refuses(2, &["--max-batch-size = 300 has no meaning"]);
    check(&[("loader", "random-allocation"), ("uses-per-epoch", "0")])
        .refuses(2, &["--uses-per-epoch is 0; it must be in 1 to"]);
    dpscope(&format!("{} --drop-last true", words(&[]))).refuses(2, &["write --drop-last=true"]);
    dpscope("check").refuses(2, &["--dataset-size is missing; add it"]);
}

#[test]
fn without_a_claim_epsilon_is_bounded() {
    let training = "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8";
    let folder = Folder::new();
    let words = format!("{training} --loader poisson --json --report page.html");
    let report = folder.run(&words).exits(0).json();
    let values = report["answer"]["values"].as_array().unwrap();
    let [lower, upper] = [0, 1].map(|at| values[at]["epsilon"].as_f64().unwrap());
    assert!(2.59 < lower && lower < upper && upper < 2.61, "{lower} {upper}");
    assert_eq!(report["answer"]["tests"], serde_json::json!([]));
    assert_eq!(report["claim"]["delta"], 1e-5);
    assert!(report["claim"].get("epsilon").is_none() && report["claim"].get("verdict").is_none());
    folder.run("recompute page.html").exits(0);
    let text = folder.run(&format!("{training} --loader shuffle")).exits(0).stdout;
    assert!(text.starts_with("ε ≥ 20.95"), "{text}");
    // δ of a claim is never assumed
    folder
        .run(&format!("{training} --claim 3 --loader poisson"))
        .refuses(2, &["--delta is missing"]);
}
