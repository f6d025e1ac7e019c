//! Files of trade-off curves: checked before the work, written after it.

use std::path::{Path, PathBuf};

use clap::Args;
use dpscope_report::figure::{CSV_MARK, Curves, JSON_MARK, SVG_MARK, to_csv, to_json, to_svg};

use crate::failure::{Exit, Failure};
use crate::files::{check_replaces, write_text};

/// Files of trade-off curves.
#[derive(Debug, Default, Args)]
pub(crate) struct PlotArgs {
    /// Draw the trade-off curves to a self-contained SVG file.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the points of the trade-off curves to a .json or .csv file.
    #[arg(long, value_name = "FILE")]
    pub(crate) curves: Option<PathBuf>,
}

/// A file format of curves.
#[derive(Debug, Clone, Copy)]
enum Format {
    Svg,
    Json,
    Csv,
}

impl Format {
    /// The format of a file, by its extension.
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

    /// The start of such a file; a file with another start is not overwritten.
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

/// Rejects a drawing that cannot be written, before any work is done.
pub(crate) fn check_drawing(path: &Path) -> Result<(), Failure> {
    check_replaces(path, Format::of(path, &[Format::Svg])?.mark())
}

/// Writes a drawing.
pub(crate) fn write_drawing(path: &Path, svg: &str) -> Result<(), Failure> {
    check_drawing(path)?;
    write_text(path, svg)
}

impl PlotArgs {
    /// Whether any curve file is requested.
    pub(crate) fn is_requested(&self) -> bool {
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

    /// Rejects files that cannot be written, before any work is done.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.files()?.into_iter().try_for_each(|(path, format)| check_replaces(path, format.mark()))
    }

    /// Writes the requested files.
    pub(crate) fn write(
        &self,
        curves: impl FnOnce() -> Result<Curves, Failure>,
    ) -> Result<(), Failure> {
        if !self.is_requested() {
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
