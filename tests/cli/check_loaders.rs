//! `dpscope check --loader`: loaders by the names that their users write.

use dpscope_tests::cli::{CommandResult, number, text};
use serde_json::Value;

use crate::codes;
use crate::{Folder, dpscope};

/// A check of a training with this loader.
fn check(loader: &str, more: &[&str]) -> CommandResult {
    let folder = Folder::new();
    let training = "dataset_size = 60000\nbatch_size = 250\nepochs = 20\nnoise_multiplier = 1.1\n\
                    accountant = \"poisson\"\nclaim = 9\ndelta = 1e-5\n";
    folder.write("training.toml", format!("{training}loader = '''{loader}'''\n"));
    folder.run(&format!("check training.toml {}", more.join(" ")))
}

fn report(loader: &str, code: i32) -> Value {
    check(loader, &["--json"]).exits(code).json()
}

#[test]
fn a_librarys_loader_is_its_sampler() {
    let named = report("DataLoader(train, shuffle=True)", 6);
    let shuffled = report("shuffle", 6);
    assert_eq!(named["lower"], shuffled["lower"]);
    assert_eq!(named["findings"], shuffled["findings"]);
    assert_eq!(text(&named, "/setup/loader"), "shuffle");
    assert_eq!(text(&named, "/library_loader/name"), "torch.utils.data.DataLoader(shuffle=True)");
    assert!(shuffled["library_loader"].is_null());
    let shown = check("DataLoader(train, shuffle=True)", &[]).exits(6).stdout;
    for part in ["A fresh permutation", "PyTorch", "drop_last=True", "Checked as shuffled batches"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let poisson = report("opacus.data_loader.DPDataLoader", 0);
    assert_eq!(text(&poisson, "/claim/verdict"), "holds-as-described");
}

#[test]
fn options_in_the_name_fill_the_description() {
    let folder = Folder::new();
    let training = "check --dataset-size 60000 --epochs 20 --noise-multiplier 1.1 --claim 3 \
                    --delta 1e-5 --json --loader";
    let name = "tf.data.Dataset.shuffle(10_000).batch(256,drop_remainder=True)";
    let found = folder.run(&format!("{training}={name}")).json();
    assert_eq!(number(&found, "/setup/loader/sliding-buffer/buffer_examples"), 10_000.0);
    assert_eq!(number(&found, "/steps"), 4680.0);
    let without = "tf.data.Dataset.shuffle(10_000).batch(b)";
    let given = folder.run(&format!("{training}={without} --batch-size 250")).json();
    assert_eq!(number(&given, "/steps"), 4800.0);
    folder
        .run(&format!("{training}=tf.data.Dataset.shuffle --batch-size 250"))
        .refuses(2, &["--buffer-examples is missing"]);
}

#[test]
fn arguments_that_contradict_the_description_are_refused() {
    for (call, argument, field) in [
        ("DPDataLoader(data, batch_size=60000)", "`batch_size=60000`", "batch_size is 250"),
        ("DataLoader(data, 60_000, shuffle=True)", "`batch_size=60_000`", "batch_size is 250"),
        (
            "UniformWithReplacementSampler(num_samples=60000, sample_rate=0.9, steps=100000)",
            "`sample_rate=0.9`",
            "batch_size / dataset_size is 0.00416",
        ),
        ("UniformWithReplacementSampler(steps=100000)", "`steps=100000`", "epochs is 20 (4800"),
        ("RandomSampler(data, num_samples=60001)", "`num_samples=60001`", "dataset_size is 60000"),
        (
            "make_private(data_loader=DataLoader(data, batch_size=4096), noise_multiplier=1.1)",
            "`batch_size=4096`",
            "batch_size is 250",
        ),
        ("make_private(noise_multiplier=0.3)", "`noise_multiplier=0.3`", "noise_multiplier is 1.1"),
        ("make_private_with_epsilon(epochs=200)", "`epochs=200`", "epochs is 20 (4800 steps"),
        (
            "CyclicPoissonSampling(sampling_prob=0.9)",
            "`sampling_prob=0.9`",
            "batch_size / dataset_size is",
        ),
    ] {
        check(call, &[]).refuses(2, &["training.toml", argument, field]);
    }
    for call in [
        "UniformWithReplacementSampler(num_samples=60000, sample_rate=1/240, steps=240)",
        "make_private(data_loader=DataLoader(data, batch_size=250), noise_multiplier=1.1)",
        "CyclicPoissonSampling(0.0041667, 4800)",
    ] {
        let agreed = check(call, &[]).exits(0);
        assert!(agreed.stderr.is_empty(), "{call}: {}", agreed.stderr);
    }
    let dropped = check("DataLoader(data, drop_last=True, shuffle=True)", &["--drop-last=false"]);
    dropped.refuses(2, &["`drop_last=true`", "drop_last is false"]);
}

/// N = 1000 in batches of 64: 16 batches, of which the last has 40 records, or 15 if it is dropped.
#[test]
fn opacus_draws_at_one_over_the_batches() {
    let check = |loader: &str, code| {
        let training = "check --dataset-size 1000 --batch-size 64 --epochs 30 --noise-multiplier 1 \
                        --delta 1e-4 --claim 8.2 --json --loader";
        dpscope(&format!("{training}={loader}")).exits(code).json()
    };
    let near = |report: &Value, at: &str, expected: f64| {
        assert!((number(report, at) - expected).abs() < 2e-4, "{report:#}");
    };
    for opacus in
        ["make_private", "opacus.data_loader.DPDataLoader", "poisson --sampling-rate 0.0625"]
    {
        let kept = check(opacus, 0);
        near(&kept, "/upper/epsilon", 8.1934);
        near(&kept, "/poisson/epsilon", 8.1934);
    }
    let dropped = check("make_private --drop-last", 3);
    near(&dropped, "/lower/epsilon", 8.5145);
    assert!(text(&dropped, "/next/0").contains("--sampling-rate 0.0666666"), "{dropped:#}");
    // the rate of other Poisson batches is unknown; the suggested noise uses the larger one
    let open = check("poisson --drop-last --accounted-sampling-rate 0.07", 6);
    let finding = finding_of(&open, "sampling-rate-unknown");
    assert_eq!([number(finding, "/least"), number(finding, "/most")], [0.064, 1.0 / 15.0]);
    assert!(text(&open, "/next/0").contains("--sampling-rate 0.0666666"), "{open:#}");
    // Opacus rounds 1/(1/93) down, and makes 92 steps per epoch
    let rounded = "check --dataset-size 93 --batch-size 1 --epochs 1 --noise-multiplier 1 \
                   --delta 1e-4 --claim 0.01 --json --loader make_private";
    let rounded = dpscope(rounded).exits(3).json();
    assert!(number(&rounded, "/lower/epsilon") < number(&rounded, "/poisson/epsilon") - 1e-3);
}

fn finding_of<'a>(report: &'a Value, code: &str) -> &'a Value {
    let mut findings = report["findings"].as_array().unwrap().iter();
    findings.find(|finding| finding["code"] == code).unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn num_samples_are_draws_per_epoch() {
    let check = |loader: &str| {
        let training = "check --dataset-size 100000 --batch-size 16 --epochs 3 --delta 1e-6 \
                        --noise-multiplier 1 --claim 1 --json --loader";
        dpscope(&format!("{training}={loader}")).exits(6).json()
    };
    for loader in [
        "WeightedRandomSampler(weights,num_samples=128)",
        "WeightedRandomSampler(weights,128)",
        "RandomSampler(data,replacement=True,num_samples=128)",
        "DataLoader(data,16,sampler=RandomSampler(data,num_samples=128))",
    ] {
        let found = check(loader);
        assert_eq!(number(&found, "/steps"), 24.0, "{loader}");
        assert_eq!(number(&found, "/sampling_rate"), 0.000_16, "{loader}");
    }
    let all = check("RandomSampler(data,replacement=True)");
    let few = check("RandomSampler(data,replacement=True,num_samples=128)");
    assert!(number(&few, "/lower/epsilon") < number(&all, "/lower/epsilon"));
}

#[test]
fn arguments_are_compared_with_options() {
    let training = "check --dataset-size 60000 --epochs 20 --claim 3 --delta 1e-5";
    let noise = "--noise-multiplier 1.1";
    let call = "--loader DPDataLoader(data,batch_size=60000)";
    dpscope(&format!("{training} {noise} --batch-size 256 {call}"))
        .refuses(2, &["`batch_size=60000`", "--batch-size is 256", "leave the argument out"]);
    dpscope(&format!("{training} {noise} {call}")).exits(3);
    dpscope(&format!("{training} --batch-size 256 --loader make_private(noise_multiplier=0.3)"))
        .refuses(2, &["--noise-multiplier is missing", "`noise_multiplier=0.3`"]);
    dpscope(&format!("{training} {noise} --loader DPDataLoader(data,sample_rate=0.9)"))
        .refuses(2, &["--batch-size is missing", "`sample_rate=0.9`"]);
}

#[test]
fn numbers_that_are_not_read_are_a_warning() {
    for (call, argument) in [
        ("Trainer(gradient_accumulation_steps=4)", "gradient_accumulation_steps=4"),
        ("DataLoader(data, batch_size=50*5, shuffle=True)", "batch_size=50*5"),
        ("make_private_with_epsilon(target_epsilon=50)", "target_epsilon=50"),
    ] {
        let shown = check(call, &[]);
        assert!(shown.stderr.starts_with("warning: "), "{call}: {}", shown.stderr);
        assert!(shown.stderr.contains(argument), "{call}: {}", shown.stderr);
        let report = check(call, &["--json"]).json();
        assert!(text(&report, "/claim/says").contains(argument), "{report:#}");
    }
    let harmless = check("DataLoader(data, shuffle=True, num_workers=4)", &[]).exits(6);
    assert!(harmless.stderr.is_empty(), "{}", harmless.stderr);
}

#[test]
fn loaders_without_a_sampler_give_what_is_proven() {
    let replaced = report("RandomSampler(data, replacement=True)", 6);
    assert_eq!(text(&replaced, "/setup/loader"), "with-replacement");
    assert!(number(&replaced, "/lower/epsilon") > 1.0 && replaced["upper"].is_null());
    assert_eq!(codes(&replaced), ["other-sampler", "no-upper-bound"]);
    // Poisson batches at B/N leak a little more than draws with replacement are proven to.
    let (lower, poisson) =
        (number(&replaced, "/lower/epsilon"), number(&replaced, "/poisson/epsilon"));
    assert!(lower < poisson && lower > 0.99 * poisson, "{lower} {poisson}");
    let once = report("webdataset.WebDataset(urls, shardshuffle=100)", 6);
    assert!(once["lower"].is_null() && once["upper"].is_null());
    assert_eq!(codes(&once), ["other-sampler", "no-lower-bound", "upper-bound-for-zero-out"]);
    let unknown = report("WeightedRandomSampler(weights, 60000)", 6);
    assert!(unknown["lower"].is_null() && unknown["upper"].is_null());
    assert_eq!(codes(&unknown), ["other-sampler", "no-lower-bound", "no-upper-bound"]);
    let refuted = check("fixed-size", &["--claim", "0.5", "--json"]).exits(3).json();
    assert_eq!(codes(&refuted)[0], "claim-below-bound");
    // Batches that are filled up have bounds under each adjacency, which differ.
    let [zero_out, removed, replaced] = ["zero-out", "add-remove", "replace"].map(|adjacency| {
        let claim = ["--claim-adjacency", adjacency, "--claim", "2500", "--json"];
        let covered = check("fixed-size", &claim).exits(0).json();
        assert_eq!(codes(&covered), ["other-sampler", "claim-covered"]);
        number(&covered, "/upper/epsilon")
    });
    assert!(zero_out < removed && removed <= replaced, "{zero_out} {removed} {replaced}");
    for loader in ["fixed-size", "with-replacement", "once-per-epoch", "unknown"] {
        check(loader, &["--statement", "plain"]);
    }
    check("unknown", &["--buffer-examples", "9"]).refuses(2, &["buffer_examples has no meaning"]);
}

#[test]
fn unknown_loaders_are_refused_with_the_nearest_name() {
    for (written, meant) in [
        ("DataLoder(shuffle=True)", "torch.utils.data.DataLoader(shuffle=True)"),
        ("shufle", "`shuffle`"),
        ("RandomSampler(", "RandomSampler"),
        ("\\u001b[2J", "did you mean"),
    ] {
        check(written, &[]).refuses(2, &["training.toml", "loader: ", meant, "--list-loaders"]);
    }
    let line = "check --loader shufle";
    dpscope(line).refuses(2, &["--loader", "did you mean `shuffle`"]);
}

#[test]
fn the_table_of_loaders_is_printed() {
    let shown = dpscope("check --list-loaders").exits(0).stdout;
    let table = dpscope("check --list-loaders --json").exits(0).json();
    let rows = table["loaders"].as_array().unwrap();
    assert!(rows.len() >= 35, "{}", rows.len());
    for row in rows {
        assert!(shown.contains(&format!("\n{}\n", text(row, "/name"))), "{row}");
    }
    for part in ["torch", "opacus", "tf.data", "transformers.Trainer", "jax_privacy", "grain"] {
        assert!(rows.iter().any(|row| text(row, "/name").contains(part)), "{part}");
    }
}
