//! What node printed, read back and compared.

use dpscope_wasm_bits::PLATFORM;
use serde::Deserialize;

/// Differences that a message shows.
const SHOWN: usize = 8;

/// Everything that one module printed.
#[derive(Debug, Clone)]
pub(crate) struct BuildOutput {
    /// Whether it was compiled with `simd128`.
    pub(crate) simd: bool,
    pub(crate) numbers: Vec<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    simd: bool,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Number {
    pub(crate) group: String,
    /// 16 hexadecimal digits.
    bits: String,
}

impl BuildOutput {
    /// Reads JSON lines.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let Header { simd } = serde_json::from_str(first).map_err(|e| format!("line 1: {e}"))?;
        let number = |(index, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 2))
        };
        let numbers: Result<Vec<Number>, String> = rest.lines().enumerate().map(number).collect();
        Ok(BuildOutput { simd, numbers: numbers? })
    }

    /// The numbers that must be the same everywhere.
    pub(crate) fn shared(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().filter(|number| number.group != PLATFORM)
    }
}

/// Where two lists differ, counting within each group.
pub(crate) fn differences<'a>(
    native: impl IntoIterator<Item = &'a (&'static str, u64)>,
    wasm: impl IntoIterator<Item = &'a Number>,
) -> Result<(), String> {
    let mut wasm = wasm.into_iter();
    let (mut found, mut compared) = (Vec::new(), 0);
    let (mut group, mut index) = ("", 0);
    for &(name, bits) in native {
        index = if name == group { index + 1 } else { 0 };
        group = name;
        compared += 1;
        let expected = format!("{bits:016x}");
        match wasm.next() {
            Some(number) if number.group == name && number.bits == expected => {}
            Some(Number { group, bits }) => {
                found.push(format!("{name} {index}: native {expected}, wasm {bits} ({group})"));
            }
            None => found.push(format!("{name} {index}: native {expected}, wasm has no more")),
        }
    }
    let more = wasm.count();
    if more > 0 {
        found.push(format!("wasm has {more} more numbers"));
    }
    if compared == 0 {
        found.push("nothing was compared".to_string());
    }
    if found.is_empty() {
        return Ok(());
    }
    let shown = found[..found.len().min(SHOWN)].join("\n");
    Err(format!("{} of {compared} numbers differ:\n{shown}", found.len()))
}
