//! `dpscope reproduce`: repeats published audits.

use dpscope_tests::cli::{number, rows_of, text};
use serde_json::{Value, json};

use crate::plots::problem;
use crate::snapshots::assert_shown;
use crate::{Folder, dpscope};

/// The document that the page of published trainings shows.
const PUBLISHED: &str = "../web/numbers/published.json";

fn published(seed: u32) -> Value {
    let folder = Folder::new();
    let words = format!("reproduce published --seed {seed} --json --plot a.svg");
    let report = folder.run(&words).exits(0).json();
    let svg = String::from_utf8(folder.read("a.svg")).unwrap();
    assert_eq!(problem(&svg), None);
    let rows = rows_of(&report, "trainings");
    assert_eq!(svg.matches("<circle").count(), rows.len() + 1);
    for row in rows {
        assert!(svg.contains(&format!(">{}, σ = ", text(row, "/name"))), "{row:#}");
    }
    json!({ "rows": rows })
}

#[test]
fn published_trainings_are_up_to_date() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PUBLISHED);
    let report = published(2026);
    let text = serde_json::to_string_pretty(&report).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == text, "stale; `BLESS=1 cargo test -p dpscope-tests --test cli published`");
    // known discrepancies are found, and claims of the tutorials are not below Poisson accounting
    let of = |name: &str| -> Vec<&Value> {
        rows(&report).iter().filter(|row| row["name"] == name).collect()
    };
    assert!(of("Bu et al. MNIST, CLT").iter().all(|row| row["claim"] == "smaller"));
    assert!(of("TF Privacy notebook").iter().all(|row| row["claim"] == "larger"));
    for row in rows(&report) {
        let number = |path: &str| number(row, path);
        let [lower, upper] = ["/shuffle_lower/epsilon", "/shuffle_upper/epsilon"].map(number);
        assert!(lower <= upper, "{row:#}");
        let pair = number("/pair_lower/epsilon");
        assert!(pair >= lower && pair <= upper, "{row:#}");
        let times = lower.max(pair) / number("/claimed_epsilon");
        assert_eq!(number("/shuffle_over_claim"), times, "{row:#}");
    }
}

fn rows(report: &Value) -> &[Value] {
    match report.get("rows") {
        Some(rows) => rows.as_array().unwrap(),
        None => rows_of(report, "settings"),
    }
}

#[test]
fn published_tables_are_compared_with_ours() {
    for (what, first, observations) in [("figure-3", "σ=0.5 T=100", 1e9), ("table-1", "", 1e7)] {
        let words = format!("reproduce {what} --observations 400 --seed 1");
        let ended = dpscope(&format!("{words} --json")).exits(0);
        assert_eq!(ended.stderr, "");
        let report = ended.json();
        assert_eq!(text(&report, "/schema"), "dpscope.reproduction/3");
        assert_eq!(number(&report, "/facts/published_observations"), observations);
        let rows = rows(&report);
        assert_eq!(rows.len(), 6);
        assert!(text(&rows[0], "/name").starts_with(first));
        let ceiling = number(&report, "/facts/ceiling");
        for row in rows {
            let [estimate, bound] = ["/our_estimate", "/our_bound"].map(|path| number(row, path));
            assert!(bound <= estimate && estimate <= ceiling, "{row:#}");
            if let (Some(published), Some(difference)) =
                (row["published_estimate"].as_f64(), row["difference"].as_f64())
            {
                assert!((estimate - published - difference).abs() < 1e-12, "{row:#}");
            }
        }
        let shown = dpscope(&words).exits(0);
        assert_eq!(shown.stderr, "");
        assert!(shown.stdout.contains("\n  why: n      "), "{}", shown.stdout);
    }
}

#[test]
fn published_models_are_compared_with_ours() {
    for (what, settings, runs) in [("dpsgd-partially-informed", 6, 2), ("partial-shuffle", 9, 10)] {
        let words = format!("reproduce {what} --runs {runs} --seed 1 --threads 2");
        let report = dpscope(&format!("{words} --json")).exits(0).json();
        assert_eq!(text(&report, "/schema"), "dpscope.reproduction/3");
        assert_eq!(
            (rows(&report).len(), number(&report, "/facts/settings")),
            (settings, settings as f64)
        );
        for row in rows(&report) {
            assert_eq!(number(row, "/runs"), f64::from(runs), "{row:#}");
            assert!(["mlp", "lenet"].contains(&text(row, "/model")));
            let [estimate, bound, ceiling] =
                ["/our_estimate", "/our_bound", "/ceiling"].map(|path| number(row, path));
            assert!(bound <= estimate && estimate <= ceiling, "{row:#}");
            assert_eq!(row["standard_error"].is_null(), estimate == 0.0, "{row:#}");
            assert!(number(row, "/idealised_estimate") <= ceiling, "{row:#}");
            let variance = number(row, "/residual_variance");
            assert!((variance - 1.0).abs() < 0.4, "{row:#}");
            if let Some(published) = row["published_estimate"].as_f64() {
                assert!((number(row, "/difference") - estimate + published).abs() < 1e-12);
                assert_eq!(row["why_they_differ"][0], "observations");
            }
        }
    }
}

#[test]
fn batch_sizes_are_those_of_the_setting() {
    let words = "reproduce dpsgd-batch-size --runs 2 --seed 1 --json";
    let report = dpscope(words).exits(0).json();
    assert_eq!((text(&report, "/what"), rows(&report).len()), ("dpsgd-batch-size", 12));
    let of = |name: &str| {
        let is_it = |row: &&Value| text(row, "/name") == name;
        rows(&report).iter().find(is_it).unwrap().clone()
    };
    let [small, large, fixed] =
        ["MLP B = 100", "MLP B = 1000", "MLP B = 1000 fixed canary"].map(of);
    assert_eq!(number(&small, "/batch_size"), 100.0);
    assert_eq!((number(&large, "/batch_size"), &large["fixed_canary"]), (1000.0, &false.into()));
    assert_eq!((number(&fixed, "/batch_size"), &fixed["fixed_canary"]), (1000.0, &true.into()));
    // larger batches are sampled at a higher rate, which takes more noise
    let [least, most] = [&small, &large].map(|row| number(row, "/noise_multiplier"));
    assert!(most > 1.2 * least, "{least} {most}");
    assert_eq!(number(&fixed, "/noise_multiplier"), most);
    let [fresh, shared] = [&large, &fixed].map(|row| number(row, "/residual_variance"));
    assert_ne!(fresh, shared);
    assert!(large["published_estimate"].is_null() && small["published_estimate"].is_number());
}

#[test]
fn figures_that_are_not_repeated_are_refused() {
    for (figure, name) in [
        ("figure-4", "dpsgd-partially-informed"),
        ("figure-5", "dpsgd-batch-size"),
        ("figure-6", "dpsgd-worst-case"),
        ("figure-7", "dpsgd-target-canary"),
    ] {
        dpscope(&format!("reproduce {figure}")).refuses(2, &[figure, "another experiment", name]);
    }
    let help = dpscope("reproduce --help").exits(0).stdout;
    assert!(!help.contains("figure-6") && help.contains("figure-10"), "{help}");
    let by_number = dpscope("reproduce figure-10 --runs 1000 --seed 1 --json").exits(0).json();
    assert_eq!(text(&by_number, "/what"), "batch-then-shuffle");
    let reasons = &rows(&by_number)[0]["why_they_differ"];
    assert_eq!(*reasons, Value::from(["observations"].map(Value::from).to_vec()));
}

#[test]
fn small_buffers_leak_by_the_published_factor() {
    let report = dpscope("reproduce batch-then-shuffle --seed 1 --json").exits(0).json();
    for pair in rows(&report).chunks_exact(2) {
        let [full, batches] = [0, 1].map(|place| number(&pair[place], "/our_estimate"));
        assert!((number(&pair[1], "/our_times") - batches / full).abs() < 1e-12);
        let [least, printed] = [0, 1].map(|place| number(&pair[place], "/published_estimate"));
        assert!(number(&pair[1], "/our_bound") > least && batches < printed + 0.5, "{pair:#?}");
    }
}

#[test]
fn experiment_texts_match_their_snapshot() {
    let shown = dpscope("reproduce dpsgd-worst-case --runs 1e4 --seed 1").exits(0).stdout;
    assert_shown("reproduce_worst_case.txt", &shown);
    let output = dpscope("reproduce partial-shuffle --runs 2 --seed 1").exits(0).stdout;
    for part in ["10.4×", "K = 1000", "synthetic", "residual", "any published value"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    // an estimate of nothing has no error
    assert!(output.contains("  0.00  -  ") && !output.contains("0.00  1.00"), "{output}");
}

#[test]
fn runs_and_observations_apply_to_their_experiments() {
    for (words, parts) in [
        ("figure-3 --runs 10", &["--runs", "no effect", "--observations"][..]),
        ("partial-shuffle --observations 10", &["--observations", "no effect", "--runs"]),
        ("partial-shuffle --runs 7", &["--runs is 7", "even"]),
        ("partial-shuffle --runs 0", &["--runs is 0"]),
    ] {
        dpscope(&format!("reproduce {words} --seed 1")).refuses(2, parts);
    }
}

#[test]
fn unwritable_drawings_are_rejected_before_the_run() {
    let folder = Folder::new();
    folder.write("mine.svg", "<svg/>");
    let words = "reproduce published --plot mine.svg";
    folder.run(words).refuses(2, &["mine.svg", "choose another file"]);
    folder.run("reproduce published --plot a.png").refuses(2, &["a.png", "must end in .svg"]);
    folder.run("reproduce figure-3 --plot a.svg").refuses(2, &["--plot", "except with published"]);
}
