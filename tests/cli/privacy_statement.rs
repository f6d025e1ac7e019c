//! `--statement`: text to paste.

use crate::dpscope;

const COMPARE: &str = "compare --noise-multiplier 1 --steps 100 --seed 1";
const CHECK: &str = "check --dataset-size 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.8 \
                     --loader shuffle --accountant poisson --claim 3 --delta 1e-5";

#[test]
fn a_statement_has_the_numbers_of_the_report_and_its_command() {
    let plain = dpscope(&format!("{COMPARE} --statement plain")).exits(0).stdout;
    for part in ["ε ≤ 0.7181", "ε ≥ 4.0631", "ε ≤ 4.3772", &format!("dpscope {COMPARE}\n")]
    {
        assert!(plain.contains(part), "{part} in {plain}");
    }
    let report = dpscope(CHECK).exits(3).stdout;
    let stated = dpscope(&format!("{CHECK} --statement=markdown")).exits(3).stdout;
    let lower = report.lines().find(|line| line.contains("this loader, at least")).unwrap();
    let lower = lower.split_whitespace().last().unwrap();
    assert!(stated.contains(&format!("ε ≥ {lower}")), "{lower} in {stated}");
    assert!(stated.contains("**Verdict:** the claim is refuted"), "{stated}");
}

#[test]
fn latex_is_ascii_and_json_has_no_statement() {
    let latex = dpscope(&format!("{CHECK} --statement latex")).exits(3).stdout;
    assert!(latex.is_ascii() && latex.contains("\\begin{description}"), "{latex}");
    dpscope(&format!("{COMPARE} --statement plain --json")).exits(2);
    dpscope(&format!("{COMPARE} --statement html")).exits(2);
}
