//! Loaders by the names that their users write.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, Command};
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{LIBRARY_LOADERS, LoaderKind, NamedLoader, OtherBatches};
use dpscope_report::record::LoaderTable;
use dpscope_report::text::row;

use crate::failure::Failure;
use crate::output::{print_json, print_text};

/// Reads `--loader`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoaderParser;

impl TypedValueParser for LoaderParser {
    type Value = NamedLoader;

    fn parse_ref(
        &self,
        command: &Command,
        _argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<NamedLoader, Error> {
        let message = |message: String| {
            Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).with_cmd(command)
        };
        let text = value.to_str().ok_or_else(|| message("--loader is not text".to_owned()))?;
        named(text).map_err(|error| message(format!("--loader: {error}")))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(kinds().map(|kind| PossibleValue::new(kind.name()))))
    }
}

fn kinds() -> impl Iterator<Item = LoaderKind> {
    let samplers = SamplerKind::ALL.into_iter().map(LoaderKind::Sampler);
    samplers.chain(OtherBatches::ALL.into_iter().map(LoaderKind::Other))
}

/// The loader of this name; an error suggests the nearest one.
pub(super) fn named(text: &str) -> Result<NamedLoader, String> {
    text.parse::<NamedLoader>().map_err(|error| {
        let names: Vec<&str> = kinds().map(LoaderKind::name).collect();
        format!(
            "{error}; did you mean `{}`? Name one of {}, or a loader of `dpscope check \
             --list-loaders`",
            nearest(text),
            names.join(", ")
        )
    })
}

/// The name that is written most alike, without the module or with it.
fn nearest(text: &str) -> &'static str {
    let written: String = text.chars().take(200).flat_map(char::to_lowercase).collect();
    let distance = |name: &&str| {
        let name = name.to_lowercase();
        let (path, _) = name.split_once('(').unwrap_or((&name, ""));
        let short = path.rsplit('.').next().unwrap_or_default();
        let ends = [name.as_str(), path, short, &name[path.len() - short.len()..]];
        // the shortest of names that are as near
        let least = ends.map(|end| strsim::levenshtein(&written, end)).into_iter().min();
        (least, name.len())
    };
    let names = kinds().map(LoaderKind::name).chain(LIBRARY_LOADERS.iter().map(|it| it.name));
    names.min_by_key(distance).unwrap_or_default()
}

/// Prints the table of loaders.
pub(super) fn list(json: bool) -> Result<(), Failure> {
    let table = LoaderTable::all();
    if json {
        return print_json(&table);
    }
    let mut out = String::from(
        "Loaders that --loader knows by name. Arguments may be left out or in any order; of names \
         with\nthe same path, the first whose arguments match counts.\n",
    );
    for loader in table.loaders {
        out.push_str(&format!("\n{}\n", loader.name));
        out.push_str(&row("batches", loader.batches.name()));
        out.push_str(&row("documented", loader.behaviour));
        for trap in loader.traps {
            out.push_str(&row("note", trap));
        }
        out.push_str(&row("source", loader.source));
    }
    print_text(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        for (written, meant) in [
            ("shufle", "shuffle"),
            ("DataLoadr(shuffle=True)", "torch.utils.data.DataLoader(shuffle=True)"),
            ("tf.data.Dataset.shufle", "tf.data.Dataset.shuffle"),
            ("RandomSamplr", "torch.utils.data.RandomSampler"),
            ("DPDataLoder", "opacus.data_loader.DPDataLoader"),
            ("IndexSamplr(shuffle=True)", "grain.samplers.IndexSampler(shuffle=True)"),
        ] {
            assert_eq!(nearest(written), meant, "{written}");
        }
        let error = named("\u{1b}[31m").unwrap_err();
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}
