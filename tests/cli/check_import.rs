//! `dpscope check --import`: records of other accountants.

use dpscope_tests::cli::{CommandResult, number, text};

use crate::Folder;

const EVENT: &str = r#"{"type": "ComposedDpEvent", "events": [
  {"type": "SelfComposedDpEvent", "count": 200, "event":
    {"type": "PoissonSampledDpEvent", "sampling_probability": 0.005, "event":
      {"type": "GaussianDpEvent", "noise_multiplier": 2.0}}},
  {"module_name": "dp_accounting.dp_event", "class_name": "SelfComposedDpEvent", "count": 1000,
   "event": {"type": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event":
      {"type": "GaussianDpEvent", "noise_multiplier": 1.1}}}]}"#;

const FLOWER: &str = include_str!("../../crates/cli/examples/imports/flower.toml");

fn import(content: &str, options: &str) -> CommandResult {
    let folder = Folder::new();
    folder.write("record", content);
    folder.run(&format!("check --import record {options}"))
}

#[test]
fn phases_of_events_are_accounted_for_together() {
    let report = import(EVENT, "--delta 1e-5 --json").exits(0).json();
    assert_eq!(text(&report, "/schema"), "dpscope.imported/1");
    assert_eq!(number(&report, "/steps"), 1200.0);
    let (lower, upper) = (number(&report, "/lower/epsilon"), number(&report, "/upper/epsilon"));
    // dp-accounting 0.6.0: 1.52255 (tests/oracles/phases)
    assert!(lower <= upper && upper - lower < 1e-3, "{lower} {upper}");
    assert!(lower < 1.522_56 && upper > 1.522_0, "{lower} {upper}");
    for (claim, code, verdict) in [("1.4", 3, "refuted"), ("1.6", 0, "holds-as-described")] {
        let found = import(EVENT, &format!("--delta 1e-5 --claim {claim} --json"));
        assert_eq!(text(&found.exits(code).json(), "/claim/verdict"), verdict);
    }
    let replaced =
        import(EVENT, "--delta 1e-5 --claim 9 --claim-adjacency replace --json").exits(0);
    assert!(number(&replaced.json(), "/lower/epsilon") > upper);
    let shown = import(EVENT, "--delta 1e-5 --claim 1.6").exits(0).stdout;
    for part in ["events of dp_accounting: 1,200 steps", "0.005", "at most (proven)", "--loader"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn correlated_noise_is_sent_to_bound_matrix() {
    let tree = r#"{"type": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 4.0,
        "step_counts": [12, 16]}"#;
    let command = "dpscope bound matrix --strategy tree --steps 16 --participation single \
                   --noise-multiplier 4 --delta 1e-6";
    import(tree, "--delta 1e-6").refuses(2, &["record: ", "correlated noise", command]);
    let none = tree.replace("[12, 16]", "[]");
    import(&none, "").refuses(2, &["$.step_counts: it must have a tree"]);

    let folder = Folder::new();
    let known = "--dataset-size 1000 --batch-size 100 --epochs 3 --noise-multiplier 2";
    let loader = "--loader tf_privacy.DPFTRLTreeAggregationOptimizer";
    let command = "bound matrix --strategy tree --steps 30 --participation shuffled:3 \
                   --noise-multiplier 2";
    folder.run(&format!("check {loader} {known}")).refuses(2, &[command]);
    folder.run(command).exits(0);
    folder.run(&format!("check {loader}")).refuses(2, &["--steps T --participation PATTERN"]);
    folder.write("training.toml", "loader = \"DP-FTRL\"\ntotal_steps = 40\n");
    let parts = ["training.toml", "--strategy STRATEGY --steps 40"];
    folder.run("check training.toml").refuses(2, &parts);
}

#[test]
fn a_history_is_compared_with_its_loader() {
    for history in [
        "[[1.1, 0.0042666, 4700]]",
        r#"{"history": [[1.1, 0.0042666, 4000],
        [1.1, 0.0042666, 700]], "mechanism": "prv"}"#,
    ] {
        let alone = import(history, "--delta 1e-5 --json").exits(0).json();
        assert!((number(&alone, "/upper/epsilon") - 1.4).abs() < 0.3, "{alone:#}");
        let options = "--loader=DataLoader(shuffle=True) --dataset-size 60000 --claim 9 --delta \
                       1e-5 --json";
        let found = import(history, options).exits(6).json();
        assert_eq!(number(&found, "/setup/batch_size"), 256.0);
        assert_eq!(number(&found, "/steps"), 4700.0);
        assert_eq!(text(&found, "/accounting/sampler"), "poisson");
        assert_eq!(text(&found, "/findings/0/code"), "other-sampler");
    }
    let epochs = "--loader shuffle --dataset-size 60000 --epochs 20 --drop-last --claim 9 --delta \
                  1e-5 --json";
    let found = import("[[1.1, 0.004266666666666667, 4700]]", epochs).json();
    let findings = found["findings"].to_string();
    assert!(findings.contains("steps-differ"), "{findings}");
    import(EVENT, "--loader shuffle --delta 1e-5")
        .refuses(2, &["record: ", "2 phases that differ", "leave out --loader"]);
}

/// Opacus records one over the number of batches, which is not B/N if the last batch is smaller.
#[test]
fn the_rate_of_a_history_bounds_its_loader() {
    for (records, batches, claim) in [(100, 3, 1.21), (60_000, 235, 1.3155)] {
        let rate = 1.0 / f64::from(batches);
        let (noise, steps) = if records == 100 { (10.0, 90) } else { (1.1, 235 * 20) };
        let history = format!("[[{noise}, {rate}, {steps}]]");
        let claimed = format!("--delta 1e-5 --claim {claim} --json");
        let alone = import(&history, &claimed).json();
        let loader = |name: &str| {
            let options = format!("--loader {name} --dataset-size {records} {claimed}");
            import(&history, &options).json()
        };
        let poisson = loader("make_private");
        assert_eq!(number(&poisson, "/steps_per_epoch"), f64::from(batches));
        let recorded = number(&alone, "/upper/epsilon");
        assert!(number(&poisson, "/upper/epsilon") >= recorded - 1e-4, "{poisson:#} {recorded}");
        assert!(number(&poisson, "/lower/epsilon") <= recorded, "{poisson:#} {recorded}");
        assert_eq!(number(&loader("shuffle"), "/steps_per_epoch"), f64::from(batches));
    }
    let shuffled = "--loader shuffle --claim 9 --delta 1e-5 --dataset-size";
    // no batch size makes six batches of ten records
    let sixth = format!("[[1.1, {}, 60]]", 1.0 / 6.0);
    import(&sixth, &format!("{shuffled} 10"))
        .refuses(2, &["--batch-size is missing", "10 records"]);
    let mean = "--noise-std 0.1 --clip-norm 1 --noise-on mean";
    let quarter = "[[1.1, 0.25, 60]]";
    import(quarter, &format!("{shuffled} 100 {mean}"))
        .refuses(2, &["--batch-size is missing", "mean"]);
    import(quarter, &format!("{shuffled} 100 {mean} --batch-size 30")).exits(6);
}

#[test]
fn settings_of_flower_describe_a_training() {
    let found = import(FLOWER, "--claim 5 --delta 1e-4 --json").exits(3).json();
    assert_eq!(text(&found, "/setup/loader"), "fixed-size");
    assert_eq!(number(&found, "/setup/dataset_size"), 1000.0);
    assert_eq!(number(&found, "/steps"), 200.0);
    assert!((number(&found, "/noise_multiplier") - 1.1).abs() < 1e-12);
    assert!(text(&found, "/library_loader/source").contains("Flower"));
    let project = "[project]\nname = \"app\"\n[tool.flwr.app.config]\nnum-server-rounds = 200\n\
                   noise-multiplier = 1.1\nnum-sampled-clients = 50\ninitial-clipping-norm = 0.1\n\
                   learning-rate = 0.1\n";
    let adaptive = import(project, "--dataset-size 1000 --claim 5 --delta 1e-4 --json");
    let [one, other] =
        [adaptive.exits(3).json(), found].map(|report| number(&report, "/lower/epsilon"));
    assert!((one - other).abs() < 1e-6, "{one} {other}");
    import(project, "--claim 5 --delta 1e-4").refuses(2, &["number of clients", "--dataset-size"]);
}

#[test]
fn unknown_parts_are_refused_with_their_path() {
    let gaussian = r#"{"type": "GaussianDpEvent", "noise_multiplier": 1}"#;
    for (content, parts) in [
        (r#"{"type": "LaplaceDpEvent", "noise_multiplier": 1}"#, &["$.type: LaplaceDpEvent"][..]),
        (r#"{"type": "OwnEvent"}"#, &["$.type: unknown event `OwnEvent`", "ComposedDpEvent"]),
        (
            r#"{"type": "ComposedDpEvent", "events": [{"type": "NoOpDpEvent"},
                {"type": "GaussianDpEvent", "noise_multiplier": 0}]}"#,
            &["$.events[1].noise_multiplier: is 0"],
        ),
        (r#"{"type": "GaussianDpEvent"}"#, &["$: GaussianDpEvent needs the field"]),
        (
            r#"{"type": "GaussianDpEvent", "noise_multiplier": 1, "sigma": 2}"#,
            &["$.sigma: unknown field of GaussianDpEvent"],
        ),
        (
            r#"{"type": "GaussianDpEvent", "noise_multiplier": 1, "noise_multiplier": 9}"#,
            &["the key `noise_multiplier` is repeated"],
        ),
        (
            &format!(r#"{{"type": "SelfComposedDpEvent", "count": 2e9, "event": {gaussian}}}"#),
            &["$.count: is 2000000000"],
        ),
        (
            r#"{"module_name": "mine", "class_name": "GaussianDpEvent", "noise_multiplier": 1}"#,
            &["$.module_name: `mine` is not dp_accounting"],
        ),
        ("[[1.1, 0.01]]", &["$[0]: expected [noise_multiplier, sample_rate, steps]"]),
        ("[[1.1, 1.5, 3]]", &["$[0][1]: is 1.5"]),
        ("[[0.0, 0.5, 3]]", &["$[0][0]: is 0.0; without noise"]),
        ("[]", &["$: the history is empty"]),
        (r#"{"history": [[1, 0.1, 5]], "epochs": 3}"#, &["$.epochs: unknown field"]),
        ("noise_multiplier = 1.0\nclipping_norm = 1\n", &["`num_sampled_clients` is missing"]),
        (&FLOWER.replace("clipping_norm", "clip"), &["$.clip: unknown setting"]),
        (&FLOWER.replace("Fixed", "Wrong"), &["$.strategy: unknown strategy"]),
        (&FLOWER.replace("= 1000", "= 10"), &["more than the 10 clients"]),
        ("{\"epsilon\": 1}", &["$: it is none of a DpEvent tree"]),
        (
            r#"["dp_accounting.dp_event", "GaussianDpEvent", 1.0]"#,
            &["$: a named tuple has lost the names of its fields; save the event"],
        ),
        (
            r#"{"module": {}, "privacy_accountant_state_dict": {"history": [[1, 0.1, 5]]}}"#,
            &[
                "$.privacy_accountant_state_dict: this field has the history",
                "save this field alone",
            ],
        ),
        ("{'type': 1}", &["not valid JSON"]),
        ("", &["$: it is none of"]),
        ("{", &["not valid JSON"]),
    ] {
        import(content, "--delta 1e-5").refuses(2, &[&["record: "], parts].concat());
    }
    let deep = r#"{"type": "ComposedDpEvent", "events": ["#.repeat(60) + &"]}".repeat(60);
    import(&deep, "--delta 1e-5").refuses(2, &["record: $"]);
    let wide = format!("[{}]", vec!["[1, 0.1, 1]"; 20_000].join(","));
    import(&wide, "--delta 1e-5").refuses(2, &["more than the limit of 50000"]);
    let phases: Vec<String> =
        (0..65).map(|at| format!("[{}, 0.1, 1]", 1.0 + f64::from(at))).collect();
    import(&format!("[{}]", phases.join(",")), "--delta 1e-5")
        .refuses(2, &["the number of phases is 65", "join neighbouring ones"]);
    import(&"#".repeat((1 << 20) + 1), "--delta 1e-5").refuses(2, &["larger than the limit"]);
}

#[test]
fn options_that_contradict_the_record_are_refused() {
    let history = "[[0.5, 0.01, 1000]]";
    let training = "--dataset-size 10000 --batch-size 100 --epochs 10 --loader poisson --claim 3 \
                    --delta 1e-5";
    import(history, training).exits(3);
    import(history, &format!("{training} --noise-multiplier 0.5000000000001")).exits(3);
    for (option, parts) in [
        ("--noise-multiplier 10", &["noise multiplier 0.5", "--noise-multiplier is 10"][..]),
        ("--accounted-sampling-rate 0.001", &["sampling rate 0.01", "--accounted-sampling-rate"]),
        ("--accounted-steps 10", &["steps: 1000", "--accounted-steps is 10"]),
        ("--accountant shuffle", &["Poisson", "--accountant is shuffle"]),
    ] {
        let parts = [&["record: ", "leave the option out"], parts].concat();
        import(history, &format!("{training} {option}")).refuses(2, &parts);
    }
    // the loader may make other steps than were accounted: a finding
    let fewer = import(history, &training.replace("--epochs 10", "--epochs 9")).exits(3);
    assert!(fewer.stdout.contains("the accountant used 1000 steps"), "{}", fewer.stdout);

    let claim = "--claim 5 --delta 1e-4";
    for same in ["--dataset-size 1000", "--total-steps 200", "--epochs 10", "--batch-size 50"] {
        import(FLOWER, &format!("{claim} {same}")).exits(3);
    }
    for (option, parts) in [
        ("--dataset-size 1000000", &["clients: 1000", "--dataset-size is 1000000"][..]),
        ("--total-steps 1", &["rounds: 200", "--total-steps is 1"]),
        ("--epochs 1", &["rounds: 200", "--epochs in rounds is 20"]),
        ("--batch-size 1", &["sampled clients: 50", "--batch-size is 1"]),
        ("--noise-multiplier 10", &["noise multiplier 1.1", "--noise-multiplier is 10"]),
        ("--clip-norm 0.001", &["clipping norm", "--clip-norm is 0.001"]),
        ("--noise-on sum", &["mean", "--noise-on is sum"]),
    ] {
        let parts = [&["record: ", "leave the option out"], parts].concat();
        import(FLOWER, &format!("{claim} {option}")).refuses(2, &parts);
    }
}

#[test]
fn accountants_of_opacus_are_known() {
    let state = |name: &str| format!(r#"{{"history": [[1, 0.1, 5]], "mechanism": "{name}"}}"#);
    for name in ["rdp", "gdp", "prv"] {
        import(&state(name), "--delta 1e-5").exits(0);
    }
    let parts = ["record: $.mechanism: unknown accountant `foo`", "rdp, gdp, prv"];
    import(&state("foo"), "--delta 1e-5").refuses(2, &parts);
}

#[test]
fn options_without_effect_are_refused() {
    // δ of a claim is never assumed
    import(EVENT, "--claim 3").refuses(2, &["delta is missing"]);
    import(EVENT, "").exits(0);
    import(EVENT, "--delta 1e-5 --epochs 3").refuses(2, &["pass --loader"]);
    import(EVENT, "--delta 1e-5 --statement plain").refuses(2, &["--statement has no effect"]);
    import(EVENT, "--delta 1e-5 --claim=-1").refuses(2, &["--claim", "`-1`"]);
}
