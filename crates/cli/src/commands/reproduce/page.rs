//! Documents of reproductions: words and columns stand in data files, numbers come from code.

use dpscope_report::record::{
    Reproduction, ReproductionColumn, ReproductionNote, ReproductionSection,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::chart::ChartPage;
use super::data;
use super::names::{Names, Notes, Table, shown};
use crate::failure::Failure;

/// What a data file says of a document: its sections, in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    section: Vec<Section>,
    chart: Option<ChartPage>,
}

/// A paragraph, a table and notes. `{name}` and `{name:form}` in texts are numbers of the experiment;
/// `if` names one without which a part is left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default)]
    text: String,
    /// Width at which the paragraph is wrapped.
    wrap: Option<usize>,
    /// Name of the table; the section is repeated for each table of this name.
    #[serde(default)]
    table: String,
    #[serde(default)]
    columns: Vec<Column>,
    #[serde(default)]
    notes: Vec<Note>,
    r#if: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    /// Name of the value; a row may have its text as well, by this name and `_text`.
    id: String,
    heading: String,
    /// How numbers are written; see [`shown`].
    #[serde(default)]
    form: String,
    /// What stands where there is no value.
    absent: Option<String>,
    /// Whether it stands at the left edge; the default of columns without a form.
    left: Option<bool>,
    r#if: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    #[serde(default)]
    label: String,
    #[serde(default)]
    text: String,
    /// Notes of the experiment that stand in place of this one.
    list: Option<String>,
    r#if: Option<String>,
}

/// A repeated experiment.
pub(super) struct Reproduced {
    /// The data file with its words.
    page: &'static str,
    /// Sizes and settings of the whole experiment.
    facts: Value,
    tables: Vec<Table>,
    notes: Vec<Notes>,
    /// What is missing, if Ctrl-C stopped it.
    pub(super) interrupted: Option<String>,
}

impl Reproduced {
    pub(super) fn new(
        page: &'static str,
        facts: Value,
        tables: Vec<Table>,
        notes: Vec<Notes>,
    ) -> Self {
        Self { page, facts, tables, notes, interrupted: None }
    }

    /// The document that the data file makes of the numbers.
    pub(super) fn document(&self, what: &str, seed: u64) -> Result<Reproduction, Failure> {
        let page: Page = data::toml(self.page)?;
        let none = [Table::new("", [])];
        let mut sections = Vec::with_capacity(page.section.len());
        let mut shown: Vec<&str> = Vec::new();
        for section in page.section {
            let named = self.tables.iter().filter(|table| table.name == section.table);
            let is_again = shown.contains(&section.table.as_str());
            for table in named.chain(none.iter().filter(|_| section.table.is_empty())) {
                let names = Names { what, seed, of_table: &table.facts, facts: &self.facts };
                if names.has(&section.r#if) {
                    let written = self.section(&section, table, &names);
                    let rows = if is_again { Vec::new() } else { written.rows };
                    sections.push(ReproductionSection { rows, ..written });
                    shown.push(&table.name);
                }
            }
        }
        let names = Names { what, seed, of_table: &Value::Null, facts: &self.facts };
        let chart = page.chart.and_then(|chart| chart.drawn(&self.tables, &names));
        let document = Reproduction::new(what, seed, self.facts.clone(), sections);
        Ok(Reproduction { chart, ..document })
    }

    fn section(&self, section: &Section, table: &Table, names: &Names<'_>) -> ReproductionSection {
        let text = names.filled(&section.text);
        let columns = section.columns.iter().filter(|column| names.has(&column.r#if));
        let columns: Vec<&Column> = columns.collect();
        let printed = |row: &Value| columns.iter().map(|column| column.text(row)).collect();
        let values = |row: &Value| {
            let fields = row.as_object().into_iter().flatten();
            let values = fields.filter(|(name, _)| !name.ends_with("_text"));
            values.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
        };
        let notes = section.notes.iter().filter(|note| names.has(&note.r#if));
        let of_note = |note: &Note| match &note.list {
            None => vec![(names.filled(&note.label), names.filled(&note.text))],
            Some(list) => {
                let lists = self.notes.iter().filter(|(name, _)| name == list);
                lists.flat_map(|(_, notes)| notes.clone()).collect()
            }
        };
        ReproductionSection {
            name: section.table.clone(),
            text: section.wrap.map_or(text.clone(), |width| textwrap::fill(&text, width)),
            columns: columns.iter().map(|column| column.record()).collect(),
            rows: table.rows.iter().map(values).collect(),
            printed: match columns[..] {
                [] => Vec::new(),
                _ => table.rows.iter().map(printed).collect(),
            },
            notes: notes
                .flat_map(of_note)
                .map(|(label, text)| ReproductionNote { label, text })
                .collect(),
        }
    }
}

impl Column {
    fn text(&self, row: &Value) -> String {
        match row.get(format!("{}_text", self.id)) {
            Some(text) => shown(text, ""),
            None => match row.get(&self.id).filter(|value| !value.is_null()) {
                Some(value) => shown(value, &self.form),
                None => self.absent.clone().unwrap_or_else(|| shown(&Value::Null, "")),
            },
        }
    }

    fn record(&self) -> ReproductionColumn {
        let is_left = self.left.unwrap_or(self.form.is_empty());
        ReproductionColumn {
            id: self.id.clone(),
            heading: self.heading.clone(),
            is_right: !is_left,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_in_their_form() {
        for (value, form, text) in [
            (json!(null), "0.00", "-"),
            (json!(1234), "0,0", "1,234"),
            (json!(0.718_02), "≤ 0.00", "0.72"),
            (json!(0.719), "≥ 0.00", "0.71"),
            (json!({ "epsilon": 0.718_02, "kind": "upper" }), "0.00", "0.72"),
            (json!({ "reason": "no value" }), "0.00", "-"),
            (json!({ "value": 1.25, "standard_error": 0.5 }), "0.0", "1.2 ± 0.5"),
            (json!([0.1, 2.0]), "0.00", "0.10 to 2.00"),
            (json!(["a", "b"]), "", "a b"),
            (json!(-0.25), "+0.00", "-0.25"),
            (json!(0.05), "held", "95 %"),
            (json!(0.25), "%", "25 %"),
            (json!(1), "# run", "1 run"),
            (json!(1e-5), "e", "1e-5"),
            (json!(4.0), "", "4"),
        ] {
            assert_eq!(shown(&value, form), text, "{value} {form}");
        }
    }

    #[test]
    fn parts_without_their_number_are_left_out() {
        let page = r#"
            [[section]]
            text = "{what}: {runs:# run}, seed {seed}"
            notes = [
                { label = "a", text = "{runs:0,0}", if = "runs" },
                { label = "b", text = "none", if = "!runs" },
                { list = "more" },
            ]
            [[section]]
            table = "rows"
            text = "of {size}"
            columns = [
                { id = "name", heading = "setting" },
                { id = "x", heading = "σ", form = "0.0" },
                { id = "y", heading = "τ", if = "has_y" },
            ]
        "#;
        let row = json!({ "name": "n", "x": 0.5, "x_text": "half", "y": 1 });
        let table =
            |size| Table { facts: json!({ "size": size }), ..Table::new("rows", [row.clone()]) };
        let facts = json!({ "runs": 1000, "has_y": false });
        let notes = vec![("more", vec![("c".to_owned(), "said".to_owned())])];
        let found = Reproduced::new(page, facts, vec![table(1), table(2)], notes);
        let document = found.document("figure-0", 7).unwrap();
        let text = dpscope_report::text::reproduction_text(&document);
        assert_eq!(
            text,
            "figure-0: 1,000 runs, seed 7\n  a           1,000\n  c           said\n\n\
             of 1\n  setting     σ\n  n        half\n\nof 2\n  setting     σ\n  n        half\n"
        );
        assert_eq!(document.sections[1].rows[0].len(), 3);
    }
}
