//! The few things of JavaScript that records need; the crate js-sys brings more than they weigh.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// A list, or text.
    #[derive(Debug)]
    #[wasm_bindgen(js_name = Array)]
    pub type List;

    /// An empty list.
    #[wasm_bindgen(constructor, js_class = Array)]
    pub fn new() -> List;

    /// Another element at the end.
    #[wasm_bindgen(method)]
    pub fn push(this: &List, value: &JsValue);

    /// Elements, or letters.
    #[wasm_bindgen(method, getter)]
    pub fn length(this: &List) -> f64;

    /// A plain object.
    #[derive(Debug)]
    pub type Object;

    /// An empty object.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Object;

    /// The names of an object's fields; throws where there is no object.
    #[wasm_bindgen(static_method_of = Object, catch)]
    pub fn keys(object: &JsValue) -> Result<JsValue, JsValue>;

    /// A field.
    #[wasm_bindgen(js_namespace = Reflect, catch)]
    pub fn get(object: &JsValue, key: &JsValue) -> Result<JsValue, JsValue>;

    /// Sets a field.
    #[wasm_bindgen(js_namespace = Reflect)]
    pub fn set(object: &Object, key: &str, value: &JsValue);

    /// A number as a reader writes it.
    #[wasm_bindgen(js_name = String)]
    pub fn text_of(number: f64) -> String;
}

/// A record of columns and numbers.
#[cfg(any(feature = "studies", feature = "audits"))]
pub(crate) fn object<const FIELDS: usize>(fields: [(&str, JsValue); FIELDS]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        set(&object, name, &value);
    }
    object
}
