//! Where curves go: files that are checked before the work and written whole after it.

use std::path::Path;

use dpscope_report::figure::{CSV_MARK, Curves, JSON_MARK, SVG_MARK, to_csv, to_json, to_svg};

use crate::args::PlotArgs;
use crate::failure::{Exit, Failure};
use crate::files::{check_replaces, write_text};

/// A way to write curves.
#[derive(Debug, Clone, Copy)]
enum Format {
    Svg,
    Json,
    Csv,
}

impl Format {
    /// The format that an ending names.
    fn of(path: &Path, allowed: &[Format]) -> Result<Format, Failure> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let named = |format: &&Format| ending.as_deref() == Some(format.ending());
        allowed.iter().find(named).copied().ok_or_else(|| {
            let endings: Vec<String> =
                allowed.iter().map(|format| format!(".{}", format.ending())).collect();
            Failure::input(format!("must end in {}", endings.join(" or "))).about(path)
        })
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Json => "json",
            Format::Csv => "csv",
        }
    }

    /// How such a file begins: one that begins otherwise is not replaced.
    fn mark(self) -> &'static str {
        match self {
            Format::Svg => SVG_MARK,
            Format::Json => JSON_MARK,
            Format::Csv => CSV_MARK,
        }
    }

    fn text(self, curves: &Curves) -> Result<String, Failure> {
        match self {
            Format::Svg => Ok(to_svg(curves)),
            Format::Json => to_json(curves).map_err(|error| Failure::with(Exit::Internal, error)),
            Format::Csv => Ok(to_csv(curves)),
        }
    }
}

impl PlotArgs {
    /// Whether any curve is asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.plot.is_some() || self.curves.is_some()
    }

    fn files(&self) -> Result<Vec<(&Path, Format)>, Failure> {
        let mut files = Vec::new();
        if let Some(path) = &self.plot {
            files.push((path.as_path(), Format::of(path, &[Format::Svg])?));
        }
        if let Some(path) = &self.curves {
            files.push((path.as_path(), Format::of(path, &[Format::Json, Format::Csv])?));
        }
        Ok(files)
    }

    /// Refuses files that cannot be written, before any work is done.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.files()?.into_iter().try_for_each(|(path, format)| check_replaces(path, format.mark()))
    }

    /// Writes what is asked for.
    pub(crate) fn write(
        &self,
        curves: impl FnOnce() -> Result<Curves, Failure>,
    ) -> Result<(), Failure> {
        if !self.is_wanted() {
            return Ok(());
        }
        let curves = curves()?;
        for (path, format) in self.files()? {
            check_replaces(path, format.mark())?;
            write_text(path, &format.text(&curves)?)?;
        }
        Ok(())
    }
}
