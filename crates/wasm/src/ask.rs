//! x
use wasm_bindgen::prelude::*;
/// x
/// # Errors
/// x
#[wasm_bindgen]
pub fn ask(
    arguments: Vec<String>,
    names: Vec<String>,
    files: Vec<js_sys::Uint8Array>,
) -> Result<String, String> {
    let call = dpscope::Call {
        arguments: arguments.into_iter().map(Into::into).collect(),
        files: names.into_iter().map(Into::into).zip(files.iter().map(|f| f.to_vec())).collect(),
        ..Default::default()
    };
    call.run(&Default::default()).map(|r| r.text).map_err(|e| e.message)
}
