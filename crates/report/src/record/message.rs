//! Errors, scripts and addresses.

use serde::Serialize;

/// An error under `--json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = Self::SCHEMA)))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What kind of thing went wrong.
    pub code: ErrorCode,
    /// The exit code of the program.
    pub exit_code: u8,
    /// What is wrong and what to change, as on stderr.
    pub message: String,
    /// The file that it concerns, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl ErrorReport {
    /// Name and version of the document.
    pub const SCHEMA: &str = "dpscope.error/1";
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// A mistake of this program, or stdout cannot be written.
    Internal,
    /// A wrong option, or a file that cannot be read.
    Input,
    /// No such device, or it failed.
    Device,
    /// An artefact of another run, or a damaged one.
    Artefact,
    /// Stopped before there was a result.
    Interrupted,
}

/// The document of `dpscope completions`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Completions {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.completions/1")))]
    pub schema: &'static str,
    /// The shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// The document of `dpscope serve`, printed once the address can be opened.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Serving {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.serve/1")))]
    pub schema: &'static str,
    /// The address of the app, on this machine only.
    pub url: String,
    /// The port of the address.
    pub port: u16,
}
