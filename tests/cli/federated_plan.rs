//! `dpscope plan federated`, `canaries direction`, and audits of models with their plan.

use dpscope_formats::{Array, Limits, Npz, read_npy, write_npz};
use dpscope_tests::Draws;
use dpscope_tests::cli::{number, text};

use crate::trainer::npy_f8;
use crate::{Folder, dpscope};

const DIMENSION: usize = 2_000;
const AUDIT: &str = "audit federated --initial start.npy --final trained.npy --plan plan";

/// A committed plan with about 30 canaries and a model before the training.
fn planned() -> Folder {
    planned_in("plan")
}

fn planned_in(plan: &str) -> Folder {
    let folder = Folder::new();
    let words = format!("plan federated --design poisson:30 --delta 1e-6 --dimension {DIMENSION}");
    folder.run(&format!("{words} --out {plan}")).exits(0);
    folder.write("start.npy", npy_f8(&[DIMENSION], &vec![0.5; DIMENSION]));
    folder
}

/// The files that the examples in help texts read.
pub(crate) fn planned_for_examples() -> Folder {
    let folder = planned_in("federated-plan");
    let trained: Vec<f64> = (0..DIMENSION).map(|i| (i % 7) as f64).collect();
    write_trained(&folder, &trained);
    let words = "plan federated --design poisson:30 --delta 1e-6 --attacker sum-of-updates";
    folder.run(&format!("{words} --dimension {DIMENSION} --out updates-plan")).exits(0);
    folder.write("updates/1.npy", npy_f8(&[DIMENSION], &trained));
    folder
}

/// The update of a canary.
fn direction(folder: &Folder, index: u64) -> Option<Vec<f64>> {
    let ended = folder.run(&format!("canaries direction --plan plan --index {index} --out c.npy"));
    let is_planned = ended.code == Some(0);
    is_planned.then(|| read_npy(&folder.read("c.npy"), &Limits::default()).unwrap().into_data())
}

/// A model trained by one noisy sum of all canaries, `weight` times each.
fn trained(folder: &Folder, weight: f64, noise: f64) -> Vec<f64> {
    let mut draws = Draws::new(11);
    let mut model: Vec<f64> = (0..DIMENSION).map(|_| 0.5 + noise * draws.normal()).collect();
    let updates = (0..).map_while(|index| direction(folder, index));
    for update in updates {
        model.iter_mut().zip(update).for_each(|(parameter, change)| *parameter += weight * change);
    }
    model
}

fn write_trained(folder: &Folder, model: &[f64]) {
    folder.write("trained.npy", npy_f8(&[model.len()], model));
}

#[test]
fn a_leak_refutes_the_claim_and_binds_the_plan_to_the_model() {
    let folder = planned();
    let model = trained(&folder, 1.0, 0.2);
    write_trained(&folder, &model);
    let report = folder.run(&format!("{AUDIT} --claim 2 --json")).exits(3).json();
    assert_eq!(report["design"]["is_committed"], true);
    assert_eq!(text(&report, "/kind"), "bound", "{}", report["findings"]);
    assert!(number(&report, "/bounds/epsilon") > 8.0);
    // σ = 0.2, and the other canaries: 1/√(0.04 + 30/2000)
    let mean = number(&report, "/standardised_mean") / number(&report, "/design/inserted").sqrt();
    assert!((mean - 4.2).abs() < 0.9, "{mean}");

    let again = folder.run(&format!("{AUDIT} --json")).exits(0).json();
    assert_eq!(again["bounds"], report["bounds"]);
    write_trained(&folder, &model.iter().map(|x| x + 1e-9).collect::<Vec<_>>());
    let other = folder.run(AUDIT).exits(5).stderr;
    assert!(other.contains("another model") && other.contains("commit a new plan"), "{other}");
    // cosines depend on the model before the training, too
    write_trained(&folder, &model);
    let start: Vec<f64> = (0..DIMENSION).map(|i| (i % 3) as f64).collect();
    folder.write("start.npy", npy_f8(&[DIMENSION], &start));
    folder.run(AUDIT).refuses(5, &["another initial one"]);
}

#[test]
fn directions_of_another_plan_show_nothing() {
    let (folder, other) = (planned(), planned());
    write_trained(&folder, &trained(&other, 1.0, 0.2));
    // seeds are fresh: more than 0 in 5 % of all runs, more than 8 in 2·10⁻⁵
    let report = folder.run(&format!("{AUDIT} --json")).exits(0).json();
    assert!(number(&report, "/bounds/epsilon") < 8.0, "{report:#}");
}

#[test]
fn a_changed_plan_is_refused() {
    let folder = planned();
    write_trained(&folder, &vec![0.4; DIMENSION]);
    let plan = String::from_utf8(folder.read("plan/plan.json")).unwrap();
    folder.write("plan/plan.json", plan.replace("30.0", "3.0"));
    assert!(folder.run(AUDIT).exits(5).stderr.contains("commitment"));
    let words = "plan federated --design poisson:30 --dimension 50 --out plan";
    assert!(folder.run(words).exits(2).stderr.contains("never overwritten"));
}

#[test]
fn directions_are_split_like_a_model() {
    let folder = planned();
    let flat = direction(&folder, 0).unwrap();
    let norm: f64 = flat.iter().map(|c| c * c).sum();
    assert!((norm - 1.0).abs() < 1e-6, "{norm}");
    assert_ne!(direction(&folder, 1).unwrap(), flat);
    let array = |shape: Vec<usize>| {
        let count = shape.iter().product();
        Array::new(shape, vec![0.0; count]).unwrap()
    };
    let arrays = [("b", &array(vec![1_000])), ("a", &array(vec![10, 100]))];
    folder.write("start.npz", write_npz(&arrays).unwrap());
    let words = "canaries direction --plan plan --index 0 --like start.npz --out c.npz";
    folder.run(words).exits(0);
    let bytes = folder.read("c.npz");
    let parts = Npz::open(&bytes, &Limits::default()).unwrap();
    assert_eq!(parts.read("a").unwrap().shape(), [10, 100]);
    assert_eq!(parts.read("a").unwrap().data(), &flat[..1_000]);
    assert_eq!(parts.read("b").unwrap().data(), &flat[1_000..]);
    // the same model, whose second array is in another file
    let sum = |name: &str| {
        let part = parts.read(name).unwrap();
        let moved = part.data().iter().map(|c| c * 3.0).collect();
        Array::new(part.shape().to_vec(), moved).unwrap()
    };
    folder.write("one.npz", write_npz(&[("b", &sum("b"))]).unwrap());
    folder.write("two.npz", write_npz(&[("a", &sum("a"))]).unwrap());
    let words = "audit federated --initial start.npz --final one.npz --final two.npz --plan plan";
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    // one canary has cosine 1, the others none
    assert!(number(&report, "/bounds/epsilon") > 100.0);
    assert_eq!(text(&report, "/input/model"), "one.npz, two.npz");
}

#[test]
fn bad_models_are_refused_with_their_place() {
    let folder = planned();
    let refused = |model: &[f64], parts: &[&str]| {
        write_trained(&folder, model);
        let shown = folder.run(AUDIT).exits(2).stderr;
        assert!(parts.iter().all(|part| shown.contains(part)), "{parts:?}: {shown}");
    };
    refused(&[0.5; 10], &["trained.npy", "different arrays", "start.npy"]);
    refused(&vec![0.5; DIMENSION], &["trained.npy", "same parameters as --initial"]);
    let mut diverged = vec![0.4; DIMENSION];
    diverged[7] = f64::NAN;
    refused(&diverged, &["element 7", "cannot be audited"]);
    folder.write("start.npy", npy_f8(&[10], &[0.5; 10]));
    refused(&[0.4; 10], &["10 parameters", "the plan has 2000"]);
    let beyond = folder.run("canaries direction --plan plan --index 1e6 --out c.npy").exits(2);
    assert!(beyond.stderr.contains("numbered from 0"), "{}", beyond.stderr);
    folder.run("canaries direction --plan plan --index 0 --out c.csv").exits(2);
    folder.run("canaries direction --plan none --index 0 --out c.npy").exits(2);
    folder.run("audit federated --initial start.npy --final trained.npy").exits(2);
    folder.run(&format!("{AUDIT} --dimension 10")).exits(2);
}

#[test]
fn sizes_are_estimates_below_the_truth() {
    let words = "plan federated --design poisson:1000 --delta 1e-6";
    let sizes = dpscope(&format!("{words} --mu 0.5,3 --json")).exits(0).json();
    for row in 0..2 {
        let at = |name: &str| number(&sizes, &format!("/rows/{row}/{name}"));
        let (shown, truth) = (at("median_epsilon"), at("true_epsilon"));
        assert!(shown < truth && shown >= 0.0, "{shown} {truth}");
    }
    assert!(number(&sizes, "/rows/1/median_epsilon") > 5.0);
    let maxima = format!("{words} --mu 3 --attacker all-updates --server-rounds 100 --json");
    let maxima = dpscope(&maxima).exits(0).json();
    let cost = number(&sizes, "/rows/1/median_epsilon") - number(&maxima, "/rows/0/median_epsilon");
    assert!(cost > 3.0, "{cost}");
    assert!((number(&sizes, "/most_canaries") / 1e4 - 1.0).abs() < 1e-12);
    let fixed = dpscope("plan federated --design fixed:1000 --delta 1e-5").exits(0).stdout;
    assert!(fixed.contains("canaries reduce power"), "{fixed}");
    for (words, part) in [
        ("--design fixed", "fixed:1000"),
        ("--design bernoulli:10:0.5", "poisson:MEAN"),
        ("--design poisson:0", "--design: canaries"),
        ("--design poisson:9 --delta 0", "--delta"),
        ("--design poisson:9 --mu 0", "--mu"),
        ("--design poisson:9 --out plan", "--dimension"),
    ] {
        let shown = dpscope(&format!("plan federated {words}")).exits(2).stderr;
        assert!(shown.contains(part), "{words}: {shown}");
    }
}

#[test]
fn only_models_are_compared_on_a_device() {
    let folder = Folder::new();
    folder.write("cosines.csv", "0.1\n0.2\n");
    let words = "audit federated --cosines cosines.csv --dimension 1000";
    folder.run(&format!("{words} --device cpu")).exits(0);
    folder.run(&format!("{words} --device gpu")).refuses(4, &["--initial and --final"]);
    folder.run(&format!("{words} --float-mode fast")).refuses(2, &["--float-mode"]);
}
