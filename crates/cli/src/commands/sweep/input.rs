//! The CSV file that `sweep` reads.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use dpscope_core::accounting::{EpochLength, RunLength, Schedule};
use dpscope_core::foreign_text::{ForeignText, is_plain};
use dpscope_formats::Limits;

use crate::commands::lines::check;
use crate::failure::Failure;
use crate::files::read;

/// A row of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedSetting {
    pub(super) name: String,
    pub(super) setting: Schedule,
    pub(super) delta: f64,
}

const MAX_ROWS: usize = 10_000;
const MAX_BYTES: u64 = 4 << 20;

/// Reads the whole file before anything runs; `delta` is the default of its rows.
pub(super) fn load(path: &Path, delta: f64) -> Result<Vec<NamedSetting>, Failure> {
    let limits = Limits { max_bytes: MAX_BYTES, ..Limits::default() };
    let bytes = read(path, &limits)?;
    let about = |message: String| Failure::input(message).about(path);
    let text = String::from_utf8(bytes)
        .map_err(|_| about("is not UTF-8 text; save it as a CSV file in UTF-8".to_owned()))?;
    parse(&text, delta).map_err(about)
}

fn parse(text: &str, delta: f64) -> Result<Vec<NamedSetting>, String> {
    let text = text.trim_end();
    check_lines(text)?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut columns = None;
    let mut rows = Vec::new();
    for (line, row) in (1..).zip(reader.records()) {
        let row = row.map_err(|error| ForeignText::of(error).to_string())?;
        let about = |error: String| format!("line {line}: {error}");
        if row.iter().any(|cell| !cell.chars().all(is_plain)) {
            let why = "a control or text-direction character, or an unclosed quotation mark; save the file \
                       as plain text";
            return Err(about(why.to_owned()));
        }
        let Some(columns) = &columns else {
            columns = Some(Columns::from_header(&row).map_err(about)?);
            continue;
        };
        if rows.len() == MAX_ROWS {
            return Err(about(format!("more than {MAX_ROWS} rows; split the file")));
        }
        rows.push(columns.read(&row, rows.len() + 1, delta).map_err(about)?);
    }
    match columns {
        None => Err("is empty; the first line must name the columns".to_owned()),
        Some(_) if rows.is_empty() => {
            Err("has no rows below the header; add one line per training run".to_owned())
        }
        Some(_) => Ok(rows),
    }
}

/// Rejects empty lines before the last row, which the reader would skip: they may be missing rows.
fn check_lines(text: &str) -> Result<(), String> {
    let text = text.replace("\r\n", "\n");
    let empty = text
        .trim_end_matches(['\n', '\r'])
        .split_terminator(['\n', '\r'])
        .position(|line| line.trim().is_empty());
    empty.map_or(Ok(()), |before| {
        Err(format!("line {} is empty; enter a row, or remove the line", before + 1))
    })
}

/// The positions of the columns.
struct Columns {
    count: usize,
    name: Option<usize>,
    noise_multiplier: usize,
    steps: Option<usize>,
    dataset_size: Option<usize>,
    batch_size: Option<usize>,
    epochs: Option<usize>,
    total_steps: Option<usize>,
    delta: Option<usize>,
}

impl Columns {
    fn from_header(header: &StringRecord) -> Result<Self, String> {
        let [mut name, mut noise_multiplier, mut steps, mut dataset_size, mut batch_size] =
            [None; 5];
        let [mut epochs, mut total_steps, mut delta] = [None; 3];
        for (place, title) in header.iter().enumerate() {
            let shown = ForeignText::new(title);
            let column = match title {
                "name" => &mut name,
                "noise_multiplier" | "sigma" => &mut noise_multiplier,
                "steps" | "T" => &mut steps,
                "dataset_size" | "N" => &mut dataset_size,
                "batch_size" | "B" => &mut batch_size,
                "epochs" | "E" => &mut epochs,
                "total_steps" => &mut total_steps,
                "delta" => &mut delta,
                _ => {
                    return Err(format!(
                        "unknown column `{shown}`; the columns are name, noise_multiplier (or \
                         sigma), steps (or T), dataset_size (or N), batch_size (or B), epochs (or E), \
                         total_steps and delta"
                    ));
                }
            };
            if column.replace(place).is_some() {
                return Err(format!("column `{shown}` appears twice; remove one"));
            }
        }
        let needed = |column: Option<usize>, title: &str| {
            column.ok_or_else(|| format!("no column {title}; the first line must name the columns"))
        };
        Ok(Columns {
            count: header.len(),
            name,
            noise_multiplier: needed(noise_multiplier, "noise_multiplier (or sigma)")?,
            steps: match (dataset_size, batch_size) {
                (Some(_), Some(_)) => steps,
                _ => Some(needed(steps, "steps (or T)")?),
            },
            dataset_size,
            batch_size,
            epochs,
            total_steps,
            delta,
        })
    }

    fn read(&self, row: &StringRecord, number: usize, delta: f64) -> Result<NamedSetting, String> {
        if row.len() != self.count {
            let (found, count) = (row.len(), self.count);
            return Err(format!("{found} cells, but the header has {count}"));
        }
        // An empty cell counts as absent.
        let cell =
            |place: Option<usize>| place.and_then(|place| row.get(place)).filter(|c| !c.is_empty());
        let float = |place, column: &str| number_in(cell(place), column, crate::args::number);
        let count = |place, column: &str| number_in(cell(place), column, crate::args::count);
        let needed = |column: &str| format!("{column} is empty; enter a number");
        let noise_multiplier = float(Some(self.noise_multiplier), "noise_multiplier")?
            .ok_or_else(|| needed("noise_multiplier"))?;
        let records = [(self.dataset_size, "dataset_size"), (self.batch_size, "batch_size")];
        let [dataset_size, batch_size] = records.map(|(place, column)| count(place, column));
        let epoch = match (count(self.steps, "steps")?, dataset_size?, batch_size?) {
            (None, Some(dataset_size), Some(batch_size)) => {
                EpochLength::Records { dataset_size, batch_size }
            }
            (Some(steps), None, None) => EpochLength::Steps(steps),
            (Some(_), ..) => {
                return Err("steps and dataset_size exclude each other; leave one empty".to_owned());
            }
            (None, ..) => return Err(needed("steps")),
        };
        let epochs = number_in(cell(self.epochs), "epochs", crate::args::epochs)?;
        let run = match (epochs, count(self.total_steps, "total_steps")?) {
            (Some(_), Some(_)) => {
                return Err("epochs and total_steps exclude each other; leave one empty".to_owned());
            }
            (_, Some(steps)) => RunLength::Steps(steps),
            (epochs, None) => RunLength::Epochs(epochs.unwrap_or(1.0)),
        };
        let setting = Schedule::new(noise_multiplier, epoch, run);
        let setting = setting.map_err(|error| error.to_string())?;
        let delta = float(self.delta, "delta")?.unwrap_or(delta);
        check(&setting, delta).map_err(|error| error.to_string())?;
        let name = cell(self.name)
            .map_or_else(|| number.to_string(), |name| ForeignText::new(name).to_string());
        Ok(NamedSetting { name, setting, delta })
    }
}

fn number_in<T>(
    cell: Option<&str>,
    column: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    cell.map(parse).transpose().map_err(|error| format!("{column}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_any_order() {
        let text =
            "\u{feff}T, sigma,name,E,delta\r\n100,1.0,\"a, \"\"b\"\"\",,\n1e3,2,,5,1e-6\r\n \n\n";
        let rows = parse(text, 1e-5).unwrap();
        let length = |steps, epochs| (EpochLength::Steps(steps), RunLength::Epochs(epochs));
        let run = |sigma, (epoch, run)| Schedule::new(sigma, epoch, run).unwrap();
        let first = run(1.0, length(100, 1.0));
        assert_eq!(rows[0], NamedSetting { name: "a, \"b\"".into(), setting: first, delta: 1e-5 });
        let second = run(2.0, length(1000, 5.0));
        assert_eq!(rows[1], NamedSetting { name: "2".into(), setting: second, delta: 1e-6 });
        let rows =
            parse("sigma,N,B,total_steps,E\n4,45000,4096,906,\n1,10,3,,2.5\n", 1e-5).unwrap();
        let records = |dataset_size, batch_size| EpochLength::Records { dataset_size, batch_size };
        assert_eq!(rows[0].setting, run(4.0, (records(45_000, 4_096), RunLength::Steps(906))));
        assert_eq!(rows[1].setting, run(1.0, (records(10, 3), RunLength::Epochs(2.5))));
    }

    #[test]
    fn bad_rows_are_rejected_with_their_line() {
        for (text, parts) in [
            ("", &["is empty"][..]),
            ("sigma,T", &["no rows"]),
            ("sigma\n1", &["line 1", "steps (or T)"]),
            ("sigma,T,x\n1,2,3", &["line 1", "`x`"]),
            ("sigma,T,steps\n1,2,3", &["line 1", "twice"]),
            ("sigma,T\n1,10\n1", &["line 3", "1 cells", "has 2"]),
            ("sigma,T\n1,10\n0,10", &["line 3", "noise_multiplier is 0"]),
            ("sigma,T\r\n1,10\r\n0,10\r\n", &["line 3", "noise_multiplier is 0"]),
            ("sigma,T\r1,10\r0,10", &["line 3", "noise_multiplier is 0"]),
            ("\n\n", &["is empty; the first line"]),
            ("\nsigma,T\n1,10", &["line 1 is empty"]),
            ("sigma,T\n1,10\n\n1,10", &["line 3 is empty; enter a row, or remove the line"]),
            ("sigma,T\r\n1,10\r\n1,10\r\n \t\r\n1,10\n", &["line 4 is empty"]),
            ("sigma,T\n1,10\n\"\"\n", &["line 3", "1 cells", "has 2"]),
            ("sigma,T,name\n1,10,\"a\n\nb\"\n", &["line 3 is empty"]),
            ("sigma,T,delta\n1,10,nan", &["line 2", "delta is NaN"]),
            ("sigma,T\nnan,10", &["line 2", "noise_multiplier"]),
            ("sigma,T\nx,10", &["line 2", "noise_multiplier", "`x`"]),
            ("sigma,T\n1,0", &["line 2", "steps_per_epoch is 0"]),
            ("sigma,T\n1,1.5", &["line 2", "steps", "`1.5`"]),
            ("sigma,T,N,B\n1,10,100,10", &["line 2", "steps and dataset_size exclude"]),
            ("sigma,N\n1,10", &["line 1", "steps (or T)"]),
            ("sigma,N,B\n1,10,11", &["line 2", "batch_size is 11"]),
            ("sigma,T,E,total_steps\n1,10,2,20", &["line 2", "exclude each other"]),
            ("sigma,T,E\n1,10,0", &["line 2", "epochs", "`0`"]),
            ("sigma,T\n,10", &["line 2", "noise_multiplier is empty"]),
            ("sigma,T,delta\n1,10,1", &["line 2", "delta is 1"]),
            ("sigma,T\n\"1,10\n2,20", &["line 2", "quotation mark"]),
            ("sigma,T\n1\u{1},10", &["line 2", "control or text-direction"]),
            ("sigma,T,name\n1,10,a\u{202e}", &["line 2", "text-direction"]),
        ] {
            let error = parse(text, 1e-5).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{text:?}: {error}");
            }
        }
        let long = "sigma,T\n".to_owned() + &"1,10\n".repeat(MAX_ROWS + 1);
        assert!(parse(&long, 1e-5).unwrap_err().starts_with("line 10002: more than 10000"));
    }
}
