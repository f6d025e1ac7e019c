//! NumPy arrays of examples and labels.

use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_formats::{Array, Dataset, Limits, is_idx, read_idx, unpack_gzip};

use super::source::{
    FileClients, MAX_LABEL, ParsedFile, Source, format_error, has_idx_name, uncompressed_name,
};
use crate::data::error::DataError;
use crate::data::examples::Features;
use crate::model::Shape;

const EXAMPLES: [&str; 5] = ["x", "images", "features", "data", "inputs"];
const LABELS: [&str; 3] = ["y", "labels", "label"];

/// Parses npz or npy.
pub(super) fn parse(
    source: Source<'_>,
    client_column: Option<&str>,
    limits: &Limits,
) -> Result<ParsedFile, DataError> {
    let invalid = |error| format_error(source, error);
    let dataset = Dataset::open(source.bytes, source.name, limits).map_err(invalid)?;
    let names: Vec<String> = dataset.names().into_iter().map(str::to_owned).collect();
    let infos = dataset.describe().map_err(invalid)?;
    if names.is_empty() {
        let array = dataset.into_only().map_err(invalid)?;
        // The dtype of npy is not available here: images of integers up to 255 are pixels.
        let are_pixels = array.shape().len() > 2 && array.data().iter().all(|&v| is_byte(v));
        return examples(source, "npy", array, are_pixels, None);
    }
    let find = |candidates: &[&str]| {
        names.iter().find(|name| candidates.contains(&name.to_ascii_lowercase().as_str()))
    };
    let Some(name) = find(&EXAMPLES) else {
        let shown = names.iter().take(10).map(|name| ForeignText::new(name).to_string());
        let names: Vec<String> = shown.collect();
        let (name, available) = (ForeignText::new(source.name), names.join(", "));
        return Err(DataError::NoExamples { name, available });
    };
    let labels = match find(&LABELS) {
        Some(name) => Some(labels_of(source, dataset.array(name).map_err(invalid)?)?),
        None => None,
    };
    let are_pixels = infos.iter().any(|info| info.name == *name && info.dtype == "uint8");
    let parsed =
        examples(source, "npz", dataset.array(name).map_err(invalid)?, are_pixels, labels)?;
    let Some(column) = client_column else { return Ok(parsed) };
    let clients = FileClients::new(source, column, dataset.array(column).map_err(invalid)?)?;
    if clients.of_records.len() != parsed.records {
        let (records, clients) = (parsed.records, clients.of_records.len());
        return Err(DataError::ClientsOfRecords {
            name: ForeignText::new(source.name),
            records,
            clients,
        });
    }
    Ok(ParsedFile { clients: Some(clients), ..parsed })
}

fn examples(
    source: Source<'_>,
    format: &'static str,
    array: Array,
    are_pixels: bool,
    labels: Option<Vec<u32>>,
) -> Result<ParsedFile, DataError> {
    let (axes, values) = array.into_parts();
    let (shape, channels_last) = shape_of(source, &axes, axes.get(1..).unwrap_or(&[]))?;
    let (records, features) = (axes[0], shape.len());
    check_finite(source, &values, features)?;
    let values = if channels_last { channels_first(&values, shape) } else { values };
    let binary = values.iter().all(|&value| value == 0.0 || value == 1.0);
    let features = match are_pixels && !(binary && axes.len() == 2) {
        true => Features::Bytes(values.into_iter().map(|value| value as u8).collect()),
        false => packed(values, features),
    };
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != records) {
        let (name, labels) = (ForeignText::new(source.name), labels.len());
        return Err(DataError::LabelCount { name, records, labels });
    }
    Ok(ParsedFile { format, shape, features, records, labels, clients: None })
}

/// Shape of a record with the given axes, and whether its channels come last.
pub(super) fn shape_of(
    source: Source<'_>,
    array_shape: &[usize],
    axes: &[usize],
) -> Result<(Shape, bool), DataError> {
    let is_channel_count = |channels: usize| matches!(channels, 1 | 3 | 4);
    let (channels, height, width, last) = match *axes {
        [features] => (features, 1, 1, false),
        [height, width] => (1, height, width, false),
        [height, width, channels] if is_channel_count(channels) && !is_channel_count(height) => {
            (channels, height, width, true)
        }
        [channels, height, width] => (channels, height, width, false),
        _ => {
            let (name, shape) = (ForeignText::new(source.name), shape_text(array_shape));
            return Err(DataError::Shape { name, shape });
        }
    };
    Ok((Shape { channels, height, width }, last))
}

fn shape_text(axes: &[usize]) -> String {
    let lengths: Vec<String> = axes.iter().take(8).map(usize::to_string).collect();
    format!("({})", lengths.join(", "))
}

/// Converts records from channels last to channels first.
fn channels_first(values: &[f64], shape: Shape) -> Vec<f64> {
    let mut moved = Vec::with_capacity(values.len());
    for record in values.chunks_exact(shape.len()) {
        for channel in 0..shape.channels {
            moved.extend(record.iter().skip(channel).step_by(shape.channels));
        }
    }
    moved
}

/// Packs values as bits if all are 0 or 1, otherwise as `f32`.
pub(super) fn packed(values: Vec<f64>, features: usize) -> Features {
    if values.iter().all(|&value| value == 0.0 || value == 1.0) {
        return Features::bits(values.into_iter().map(|value| value != 0.0), features);
    }
    Features::Floats(values.into_iter().map(|value| value as f32).collect())
}

fn is_byte(value: f64) -> bool {
    (0.0..=255.0).contains(&value) && value.fract() == 0.0
}

/// Checks that all values are finite as `f32`.
pub(super) fn check_finite(
    source: Source<'_>,
    values: &[f64],
    features: usize,
) -> Result<(), DataError> {
    let Some(at) = values.iter().position(|&value| !(value as f32).is_finite()) else {
        return Ok(());
    };
    let (record, feature) = (at / features, at % features);
    let (name, value) = (ForeignText::new(source.name), given(values[at]));
    Err(DataError::NotFinite { name, record, feature, value })
}

/// Converts a number to a label.
pub(super) fn parse_label(source: Source<'_>, record: usize, label: f64) -> Result<u32, DataError> {
    let max = MAX_LABEL;
    if (0.0..=f64::from(max)).contains(&label) && label.fract() == 0.0 {
        return Ok(label as u32);
    }
    let name = ForeignText::new(source.name);
    Err(DataError::Label { name, record, label: given(label), max })
}

/// Labels of an array: one number per record, or one-hot rows.
fn labels_of(source: Source<'_>, array: Array) -> Result<Vec<u32>, DataError> {
    let (axes, values) = array.into_parts();
    match *axes.as_slice() {
        [_] | [_, 1] => values
            .into_iter()
            .enumerate()
            .map(|(record, label)| parse_label(source, record, label))
            .collect(),
        [_, classes] => values
            .chunks_exact(classes)
            .enumerate()
            .map(|(record, row)| {
                let one = row.iter().position(|&value| value == 1.0);
                let is_one_hot = row.iter().filter(|&&value| value != 0.0).count() == 1;
                let one = one.filter(|_| is_one_hot).ok_or_else(|| DataError::OneHot {
                    name: ForeignText::new(source.name),
                    record,
                })?;
                parse_label(source, record, one as f64)
            })
            .collect(),
        _ => {
            let (name, shape) = (ForeignText::new(source.name), shape_text(&axes));
            Err(DataError::LabelShape { name, shape })
        }
    }
}

/// Reads a label file.
pub(super) fn labels(source: Source<'_>, limits: &Limits) -> Result<Vec<u32>, DataError> {
    let invalid = |error| format_error(source, error);
    let bytes = unpack_gzip(source.bytes, limits).map_err(invalid)?;
    let name = uncompressed_name(source.name);
    if is_idx(&bytes) || has_idx_name(&name) {
        let read = read_idx(&bytes, limits).map_err(invalid)?;
        let [_] = read.shape() else {
            let (name, shape) = (ForeignText::new(source.name), shape_text(read.shape()));
            return Err(DataError::LabelShape { name, shape });
        };
        return Ok(read.data().iter().map(|&label| u32::from(label)).collect());
    }
    let dataset = Dataset::open(&bytes, &name, limits).map_err(invalid)?;
    let named = dataset.names().into_iter().find(|name| LABELS.contains(name)).map(str::to_owned);
    let array = match named {
        Some(name) => dataset.array(&name),
        None => dataset.into_only(),
    };
    labels_of(source, array.map_err(invalid)?)
}
