//! Utility of rows that `dpscope audit pategan` releases, beside ε.

use dpscope_tests::cli::number;
use serde_json::Value;

use crate::Folder;

/// `patients.csv` and `patients.toml`: 60 rows whose label follows a number.
pub(crate) fn write_patients(folder: &Folder) {
    let number = |name: &str| {
        format!("[[columns]]\nname = \"{name}\"\nkind = \"number\"\nlow = 0.0\nhigh = 10.0\n\n")
    };
    let label = "[[columns]]\nname = \"ill\"\nkind = \"category\"\nnames = [\"no\", \"yes\"]\n";
    folder.write("patients.toml", number("dose") + &number("age") + label);
    let row = |at: u32| {
        let (dose, age) = (f64::from(at * 7 % 60) / 6.0, f64::from(at * 11 % 50) / 5.0);
        format!("{dose},{age},{}\n", if dose + 0.1 * age > 5.0 { "yes" } else { "no" })
    };
    folder
        .write("patients.csv", "dose,age,ill\n".to_owned() + &(0..60).map(row).collect::<String>());
}

const AUDIT: &str = "audit pategan --data patients.csv --columns patients.toml --label ill --rows 50 \
                     --runs 40 --iterations 20 --target-row 0 --seed 1";

fn folder() -> Folder {
    let folder = Folder::new();
    write_patients(&folder);
    folder
}

#[test]
fn utility_is_shown_beside_epsilon_for_each_noise() {
    let folder = folder();
    let words = format!("{AUDIT} --utility 3 --utility-gamma 0.1,1 --utility-plot utility.svg");
    let report = folder.run(&format!("{words} --json")).exits(0).json();
    let utility = &report["utility"];
    assert_eq!((&utility["label"], &utility["positive"]), (&"ill".into(), &"yes".into()));
    assert_eq!(utility["tested_rows"], 12);
    let generators = utility["generators"].as_array().unwrap();
    let names: Vec<&str> = generators.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["γ = 0.001", "γ = 0.1", "γ = 1"]);
    let claimed: Vec<f64> = generators.iter().map(|one| number(one, "/claimed_epsilon")).collect();
    assert!(claimed.windows(2).all(|pair| pair[0] < pair[1]), "{claimed:?}");
    assert_eq!(claimed[0], number(&report, "/accounted_epsilon"));
    assert_eq!(number(&generators[0], "/measured_epsilon"), number(&report, "/epsilon"));
    let is_area = |area: f64| (0.0..=1.0).contains(&area);
    for one in generators {
        assert_eq!(one["runs"], 3);
        assert_eq!(one["classifiers"].as_array().unwrap().len(), 4);
        for area in ["auroc", "auprc"] {
            let [mean, largest] =
                ["mean", "largest"].map(|part| number(one, &format!("/{area}/{part}")));
            assert!(is_area(mean) && is_area(largest) && mean <= largest, "{one}");
            assert!(number(one, &format!("/{area}/standard_error")) >= 0.0);
        }
    }
    // real rows show what can be learned, and untrained generators release nothing to learn from
    assert!(number(utility, "/real/auroc/mean") > 0.85, "{utility:#}");
    assert!(number(&generators[0], "/auroc/mean") < 0.85, "{utility:#}");

    let shown = folder.run(&words).exits(0).stdout;
    for part in ["real rows", "γ = 0.1", "logistic regression", "best of many is biased", " ± "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let drawing = String::from_utf8(folder.read("utility.svg")).unwrap();
    assert!(drawing.contains("γ = 0.1") && drawing.contains("trained on real rows"));
}

#[test]
fn threads_change_no_utility_and_saved_runs_have_it_too() {
    let folder = folder();
    let of = |words: &str| {
        let report = folder.run(&format!("{AUDIT} --utility 2 --json {words}")).exits(0).json();
        report["utility"].clone()
    };
    let found = of("--threads 1");
    assert!(found != Value::Null && found == of("--threads 3"), "{found:#}");
    assert_eq!(of("--checkpoint runs.json"), found);
    assert_eq!(of("--checkpoint runs.json"), found);
    assert_ne!(of("--positive no"), found);
}

#[test]
fn what_cannot_be_tested_is_refused_with_the_remedy() {
    let folder = folder();
    let refuses =
        |words: &str, parts: &[&str]| folder.run(&format!("{AUDIT} {words}")).refuses(2, parts);
    refuses("--utility --positive maybe", &["no category `maybe`", "--positive"]);
    refuses("--utility 0", &["0 generators", "--utility"]);
    refuses("--utility --shard 1/2 --out a.json", &["--utility", "--shard"]);
    refuses("--utility --utility-gamma 0", &["--utility-gamma 0"]);
    refuses("--positive no", &["--utility"]);
    refuses("--plot a.svg --utility --utility-plot a.svg", &["a.svg", "--plot", "--utility-plot"]);
    let unlabelled = AUDIT.replace("--label ill", "");
    folder.run(&format!("{unlabelled} --utility")).refuses(2, &["--label"]);
    folder.write("patients.csv", "dose,age,ill\n".to_owned() + &"1,1,no\n".repeat(20));
    refuses("--utility", &["0 of 4 examples are of the class", "--positive"]);
    folder.write("patients.csv", "dose,age,ill\n1,1,no\n2,2,yes\n");
    refuses("--utility", &["2 real rows are too few", "--data"]);
}
