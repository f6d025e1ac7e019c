//! Tables as Parquet: those of three writers equal their csv, and no file harms the program.

mod hostile;

use dpscope_tests::cli::CommandResult;

use crate::Folder;
use hostile::{File, Page};

const COLUMNS: &str = r#"
[[columns]]
name = "age"
kind = "integer"
low = 0
high = 120
[[columns]]
name = "size"
kind = "number"
low = -3.0
high = 1.7976931348623157e308
[[columns]]
name = "dose"
kind = "number"
low = 0.0
high = 1e39
[[columns]]
name = "ill"
kind = "category"
names = ["False", "True"]
[[columns]]
name = "town"
kind = "category"
names = ["Köln", 'a "b", c', "", "line\nbreak"]
[[columns]]
name = "visits"
kind = "integer"
low = 0
high = 255
[[columns]]
name = "id"
kind = "number"
low = -1e16
high = 1e16
[[columns]]
name = "price"
kind = "number"
low = -1000.0
high = 1000.0
[[columns]]
name = "born"
kind = "category"
names = ["0001-01-01", "1969-12-31", "2020-02-29"]
"#;
const SMALL_COLUMNS: &str = "[[columns]]\nname = \"x\"\nkind = \"number\"\nlow = 0.0\nhigh = 9.0\n\n\
                             [[columns]]\nname = \"c\"\nkind = \"category\"\nnames = [\"a\", \"b\"]\n";
const WRITERS: [&str; 4] = ["pandas.parquet", "polars.parquet", "gzip.parquet", "lz4.parquet"];

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cli/parquet");
    std::fs::read(std::path::Path::new(folder).join(name)).unwrap()
}

fn folder(columns: &str) -> Folder {
    let folder = Folder::new();
    folder.write("columns.toml", columns);
    folder
}

/// Plans an audit of this table; what is written depends on the rows alone.
fn plan(folder: &Folder, table: &[u8], rows: u64, bounds: &str) -> CommandResult {
    folder.write("table", table);
    let _ = std::fs::remove_dir_all(folder.at("audit")); // of the table before
    folder.run(&format!(
        "plan generator --claim 0.5 --delta 0 --data table {bounds} --target-row 0 --rows {rows} \
         --runs 20 --seed 5 --allow-duplicates --out audit"
    ))
}

fn planned(table: &[u8], bounds: &str) -> [Vec<u8>; 3] {
    let folder = folder(COLUMNS);
    plan(&folder, table, 12, bounds).exits(0);
    ["audit/manifest.toml", "audit/data/with.csv", "audit/data/without.csv"]
        .map(|name| folder.read(name))
}

#[test]
fn tables_of_three_writers_equal_their_csv() {
    let bounds = "--columns columns.toml";
    let csv = planned(&fixture("table.csv"), bounds);
    assert!(csv[1].starts_with(b"age,size,dose,ill,town"));
    for name in WRITERS {
        assert!(planned(&fixture(name), bounds) == csv, "{name}");
    }
    let from_data = planned(&fixture("pandas.parquet"), "--bounds-from-data");
    assert!(planned(&fixture("polars.parquet"), "--bounds-from-data") == from_data);
}

#[test]
fn an_audit_of_parquet_outputs_equals_that_of_csv() {
    let report = |output: &str| {
        let folder = folder(COLUMNS);
        folder.write("table.csv", fixture("table.csv"));
        folder.write(output, fixture(output));
        plan(&folder, &fixture(output), 12, "--columns columns.toml").exits(0);
        let mut run = dpscope_tests::cli::dpscope(folder.path());
        // what only one world has is seen
        let command = format!(
            "if grep -q ,0.1,0.1, {{data}}; then cat {output}; else sed 3s/120/119/ table.csv; fi \
             > {{out}} # {{seed}}"
        );
        run.args(["generator", "run", "audit", "--quiet", "--command", &command]);
        CommandResult::from(run.output().unwrap()).exits(0);
        // what is kept is csv
        assert!(folder.read("audit/with/0000.csv").starts_with(b"age,size"));
        let mut report = folder.run("audit generator audit --json").exits(3).json();
        report["elapsed_ms"].take();
        report
    };
    assert_eq!(report("polars.parquet"), report("table.csv"));
}

#[test]
fn what_is_no_table_is_refused_by_column() {
    let folder = folder(SMALL_COLUMNS);
    for (name, parts) in [
        ("nested", ["column `y` is nested", "write one column"]),
        ("struct", ["column `y` is nested", "write one column"]),
        ("binary", ["column `y` has type binary", "write numbers or text"]),
        ("half", ["column `y` has type FIXED_LEN_BYTE_ARRAY (Float16)", "write numbers or text"]),
        ("time", ["column `y` has type INT64 (Timestamp", "write numbers or text"]),
        (
            "integer",
            [
                "row 1 (counted from 0), column `y`: 9007199254740993 is beyond 2^53",
                "write smaller",
            ],
        ),
    ] {
        let file = fixture(&format!("refused_{name}.parquet"));
        let refused = plan(&folder, &file, 2, "--columns columns.toml");
        refused.refuses(2, &["table: Parquet: ", parts[0], parts[1]]);
    }
    // as an empty cell of csv is
    let refused = plan(&folder, &fixture("nulls.parquet"), 2, "--columns columns.toml");
    let place = "table: converted to csv: line 3, column `x`: `` is not a finite number";
    refused.refuses(2, &[place]);
    let csv = plan(&folder, b"x,c\n1,a\n,\n", 2, "--columns columns.toml");
    csv.refuses(2, &["table: line 3, column `x`: `` is not a finite number"]);
}

#[test]
fn a_damaged_file_is_an_error_or_a_table() {
    let small = fixture("small.parquet");
    let folder = folder(SMALL_COLUMNS);
    let mut refused = 0;
    let mut check = |table: &[u8]| {
        let ended = plan(&folder, table, 3, "--columns columns.toml");
        if ended.code != Some(0) {
            ended.refuses(2, &["table: "]);
            refused += 1;
        }
    };
    check(&small);
    for at in 0..small.len() {
        let mut damaged = small.clone();
        damaged[at] ^= [0xff, 1 << (at % 8)][at % 2];
        check(&damaged);
    }
    let flips = small.len();
    for length in (0..small.len()).step_by(17) {
        check(&small[..length]);
    }
    assert!(refused > flips / 2, "{refused} of {flips}");
}

#[test]
fn sizes_that_a_file_states_are_not_trusted() {
    let folder = folder("[[columns]]\nname = \"x\"\nkind = \"number\"\nlow = 0.0\nhigh = 9.0\n");
    let bounds = "--columns columns.toml";
    let file = File::default();
    plan(&folder, &file.bytes(), 2, bounds).exits(0);
    let large = Page { unpacked_bytes: i32::MAX.into(), ..file.page };
    // without limits on memory, the decoder finds out by itself
    let reason = if cfg!(target_os = "linux") { "the decoder failed (signal: 6" } else { "" };
    let refused = plan(&folder, &File { page: large, ..file }.bytes(), 2, bounds);
    refused.refuses(2, &["table: is a Parquet file that cannot be decoded", reason, "csv"]);
    let pages = [
        Page { unpacked_bytes: -1, ..file.page },
        Page { packed_bytes: i32::MAX.into(), ..file.page },
        Page { packed_bytes: -1, ..file.page },
        Page { values: i32::MAX.into(), ..file.page },
        Page { values: -1, ..file.page },
    ];
    for page in pages {
        plan(&folder, &File { page, ..file }.bytes(), 2, bounds).refuses(2, &["table: "]);
    }
    for rows in [-1, 3, 1 << 40, i64::MAX] {
        plan(&folder, &File { rows, ..file }.bytes(), 2, bounds).refuses(2, &["table: "]);
    }
    plan(&folder, &File { group_rows: 3, ..file }.bytes(), 2, bounds).refuses(2, &["table: "]);
}
