//! The client of each record of a file.

use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_formats::{Array, CsvTable};

use super::source::{FileClients, Source, format_error};
use crate::data::error::DataError;

/// Most clients of a file.
const MAX_CLIENTS: usize = 1 << 20;

impl FileClients {
    /// From the value that stands for the client of each record.
    pub(super) fn new(source: Source<'_>, column: &str, array: Array) -> Result<Self, DataError> {
        let (name, column) = (ForeignText::new(source.name), ForeignText::new(column));
        let (shape, of_records) = array.into_parts();
        if !matches!(shape[..], [_] | [_, 1]) {
            return Err(DataError::ClientShape { name, column });
        }
        if let Some(record) = of_records.iter().position(|value| !value.is_finite()) {
            let value = given(of_records[record]);
            return Err(DataError::Client { name, column, record, value });
        }
        let mut values = of_records.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let clients = values.len();
        if !(2..=MAX_CLIENTS).contains(&clients) {
            return Err(DataError::ClientCount { name, column, clients, max: MAX_CLIENTS });
        }
        let place = |value: &f64| values.partition_point(|other| other < value) as u32;
        let of_records = of_records.iter().map(place).collect();
        Ok(FileClients { column: column.to_string(), of_records, values })
    }

    /// Divides a column off the values of a table, which keep their order.
    pub(super) fn split_off(
        source: Source<'_>,
        column: &str,
        table: CsvTable,
    ) -> Result<(Self, CsvTable), DataError> {
        let Some(columns) = table.columns.clone() else {
            let (name, column) = (ForeignText::new(source.name), ForeignText::new(column));
            return Err(DataError::NoClients {
                name,
                column,
                found: "a file without a header line",
            });
        };
        let clients = table.column(column).map_err(|error| format_error(source, error))?;
        let clients = Self::new(source, column, clients)?;
        let place = columns.iter().position(|name| name == column);
        let (shape, mut values) = table.values.into_parts();
        let mut at = 0..values.len();
        values.retain(|_| at.next().is_some_and(|at| Some(at % columns.len()) != place));
        let values = Array::new(vec![shape[0], columns.len() - 1], values);
        let values = values.map_err(|error| format_error(source, error))?;
        Ok((clients, CsvTable { columns: None, values }))
    }

    /// Which of some records are used for training: all but a tenth of those of each client, rounded up.
    pub(super) fn is_trained(&self, name: &str, records: &[u32]) -> Result<Vec<bool>, DataError> {
        let mut left = vec![0_usize; self.values.len()];
        let client = |&record: &u32| self.of_records[record as usize] as usize;
        records.iter().for_each(|record| left[client(record)] += 1);
        if let Some(client) = left.iter().position(|&records| records == 0) {
            let (name, client) = (ForeignText::new(name), given(self.values[client]));
            return Err(DataError::ClientWithoutRecords { name, client });
        }
        left.iter_mut().for_each(|left| *left -= *left / 10);
        let is_trained = records.iter().map(|record| {
            let left = &mut left[client(record)];
            let is_trained = *left > 0;
            *left = left.saturating_sub(1);
            is_trained
        });
        Ok(is_trained.collect())
    }
}

#[cfg(test)]
mod tests {
    use dpscope_formats::write_npz;

    use crate::data::{DataError, Examples, LoadOptions, Source, load};

    use super::*;

    fn read(name: &str, bytes: &[u8], column: &str) -> Result<Examples, DataError> {
        let options = LoadOptions { client_column: Some(column), ..LoadOptions::default() };
        load(Source { name, bytes }, None, &options)
    }

    /// Twelve records of each of three clients; the feature of a record is its client.
    fn csv() -> String {
        let row = |at: u32| format!("{},{},{},1\n", at % 2, f64::from(at % 3) * 7.5, at % 3);
        let rows: String = (0..36).map(row).collect();
        format!("label,site,feature,other\n{rows}")
    }

    #[test]
    fn each_client_has_its_own_records_and_a_tenth_of_them_is_held_out() {
        let read = read("a.csv", csv().as_bytes(), "site").unwrap();
        let clients = read.clients().unwrap();
        assert_eq!((clients.len(), read.client_column()), (33, Some("site")));
        assert_eq!(read.held_out().unwrap().len(), 3);
        assert_eq!(read.shape().len(), 2);
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        read.fill(&(0..33).collect::<Vec<u32>>(), &mut rows, &mut labels);
        for (row, &client) in rows.chunks(2).zip(clients) {
            assert_eq!(row, [client as f32, 1.0]);
        }
        for client in 0..3 {
            assert_eq!(clients.iter().filter(|&&other| other == client).count(), 11);
        }
        // another division of the same records has another digest
        let other = csv().replacen(",7.5,", ",0,", 1);
        assert_ne!(self::read("a.csv", other.as_bytes(), "site").unwrap().digest(), read.digest());
    }

    #[test]
    fn clients_of_arrays_are_read() {
        let array =
            |shape: &[usize], values: &[f64]| Array::new(shape.to_vec(), values.to_vec()).unwrap();
        let features = array(&[4, 2], &[1.0, 0.5, 2.0, 0.5, 3.0, 0.5, 4.0, 0.5]);
        let labels = array(&[4], &[0.0, 1.0, 0.0, 1.0]);
        let file = |clients: Array| {
            let arrays = [("x", &features), ("y", &labels), ("user", &clients)];
            write_npz(&arrays).unwrap()
        };
        let found = read("a.npz", &file(array(&[4], &[9.0, 3.0, 3.0, 9.0])), "user").unwrap();
        let mut clients = found.clients().unwrap().to_vec();
        clients.sort_unstable();
        assert_eq!(clients, [0, 0, 1, 1]);
        for (clients, part) in [
            (array(&[3], &[1.0, 2.0, 3.0]), "4 records, but 3 of them"),
            (array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), "not one number per record"),
        ] {
            let error = read("a.npz", &file(clients), "user").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = read("a.npz", &file(labels.clone()), "id").unwrap_err().to_string();
        assert!(error.contains("no array `id`"), "{error}");
    }

    #[test]
    fn bad_columns_are_refused() {
        let one = csv().replace(",7.5,", ",0,").replace(",15,", ",0,");
        let first_line = csv().find('\n').unwrap() + 1;
        for (text, column, part) in [
            (csv(), "client", "no array `client`"),
            (csv()[first_line..].to_owned(), "site", "without a header line"),
            (one, "site", "has 1 clients; 2 to"),
            (csv().replacen(",7.5,", ",nan,", 1), "site", "record 1 has site NaN"),
        ] {
            let error = read("a.csv", text.as_bytes(), column).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let options = LoadOptions {
            client_column: Some("site"),
            classes: Some(&[1, 2]),
            ..LoadOptions::default()
        };
        let text = "label,site,feature\n0,4,1\n1,5,1\n2,5,0\n";
        let error = load(Source { name: "a.csv", bytes: text.as_bytes() }, None, &options);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("client 4 has no record of the selected classes"), "{error}");
    }
}
