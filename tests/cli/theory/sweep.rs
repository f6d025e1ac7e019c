//! `dpscope sweep`.

use dpscope_tests::cli::{number, text};

use super::json;
use crate::Folder;

const TABLE: &str = "name,T,noise_multiplier,epochs,delta\nMNLI,50,0.6,1,1e-5\n\
                     \"a, b\",100,0.1,2,\n";

#[test]
fn rows_equal_the_results_of_bound() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    let words = "sweep t.csv --delta 1e-6 --pair --observations 1e4 --seed 5";
    let document = folder.run(&format!("{words} --json")).exits(0).json();
    assert_eq!(text(&document, "/schema"), "dpscope.sweep/1");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!((text(&rows[1], "/name"), number(&rows[1], "/delta")), ("a, b", 1e-6));
    let setting = "--noise-multiplier 0.6 --steps 50";
    let pair = json(&format!("bound pair {setting} --seed 5"));
    for (place, (what, epsilon)) in [
        ("poisson", number(&json(&format!("bound poisson {setting}")), "/epsilon")),
        ("balls_in_bins", number(&json(&format!("bound balls-in-bins {setting}")), "/epsilon")),
        ("shuffle_lower", number(&json(&format!("bound shuffle {setting}")), "/epsilon")),
        ("pair_lower", number(&pair, "/rows/lower/epsilon")),
        ("pair_estimate", number(&pair, "/rows/estimate/epsilon")),
        ("deterministic", number(&json(&format!("bound deterministic {setting}")), "/epsilon")),
    ]
    .into_iter()
    .enumerate()
    {
        let line = &rows[0]["values"][place];
        assert_eq!((text(line, "/what"), number(line, "/epsilon")), (what, epsilon));
    }
    let audit = json(&format!("audit bgm {setting} --observations 1e4 --seed 5"));
    assert_eq!(number(&rows[0]["values"][6], "/epsilon"), number(&audit, "/result/epsilon"));
    assert!(text(&rows[1]["values"][6], "/reason").contains("noise_multiplier = 0.1"));
}

#[test]
fn csv_tables_have_all_columns_and_reasons() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    let shown = folder.run("sweep t.csv --csv out.csv").exits(0);
    assert_eq!(shown.stderr, "");
    let table = String::from_utf8(folder.read("out.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        "name,noise_multiplier,steps,epochs,delta,partial_epoch_steps,poisson_upper,balls_in_bins_upper,\
         shuffle_lower,deterministic_upper,missing"
    );
    assert!(lines[1].starts_with("MNLI,0.6,50,1,1e-5,0,4.88") && lines[1].ends_with(','));
    assert!(lines[2].starts_with("\"a, b\",0.1,100,2,1e-5,0,"), "{}", lines[2]);
    assert!(lines[2].ends_with(','), "{}", lines[2]);
}

#[test]
fn empty_lines_between_rows_are_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "sigma,steps\n0.6,50\n\n0.8,50\n");
    folder.run("sweep t.csv").refuses(2, &["t.csv", "line 3 is empty", "remove the line"]);
    for end in ["", "\n", "\r\n\n"] {
        folder.write("t.csv", format!("sigma,steps\n0.6,50\n{end}"));
        folder.run("sweep t.csv").exits(0);
    }
}

#[test]
fn only_sweep_tables_are_overwritten() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    folder.run("sweep t.csv --csv t.csv").refuses(2, &["t.csv: ", "--csv would overwrite"]);
    folder.write("other.csv", TABLE);
    folder.run("sweep t.csv --csv other.csv").refuses(2, &["other.csv", "not overwritten"]);
    assert_eq!(folder.read("t.csv"), TABLE.as_bytes());
    folder.run("sweep t.csv --csv out.csv").exits(0);
    folder.run("sweep t.csv --csv out.csv").exits(0);
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_keeps_finished_rows() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    use dpscope_tests::cli::{CommandResult, dpscope};

    let folder = Folder::new();
    // the last rows take very long
    let slow = "1,100000\n".repeat(200);
    folder.write("t.csv", format!("sigma,T\n1,10\n{slow}"));
    let mut command = dpscope(folder.path());
    command.args(["sweep", "t.csv", "--observations", "1e6", "--seed", "1", "--csv", "out.csv"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        // the first additional thread waits for Ctrl-C
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id()));
        if threads.is_ok_and(|threads| threads.count() > 1) {
            break;
        }
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let ended: CommandResult = child.wait_with_output().unwrap().into();
    let ended = ended.exits(130);
    assert!(ended.stderr.contains("of 201 rows are finished"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Poisson ≤"), "{}", ended.stdout);
    let mut table = String::new();
    std::fs::File::open(folder.at("out.csv")).unwrap().read_to_string(&mut table).unwrap();
    assert!(table.lines().count() < 201 && table.starts_with("name,"), "{table}");
}
