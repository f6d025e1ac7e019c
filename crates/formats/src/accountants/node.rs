//! Values of JSON and TOML, without repeated keys.

use std::fmt;

use dpscope_core::foreign_text::ForeignText;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::record::{AccountantRecordError, MAX_RECORD_BYTES, MOST_NODES, MOST_STEPS};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Record(Vec<(String, Node)>),
}

/// A place in a record.
#[derive(Debug, Clone)]
pub(super) struct At(String);

impl At {
    pub(super) fn root() -> Self {
        At("$".to_owned())
    }

    pub(super) fn field(&self, name: &str) -> Self {
        At(format!("{}.{}", self.0, ForeignText::new(name)))
    }

    pub(super) fn item(&self, index: usize) -> Self {
        At(format!("{}[{index}]", self.0))
    }

    pub(super) fn error(&self, problem: impl fmt::Display) -> AccountantRecordError {
        AccountantRecordError { path: self.0.clone(), problem: problem.to_string() }
    }
}

/// JSON if it begins like it, else TOML.
pub(super) fn parse(bytes: &[u8]) -> Result<Node, AccountantRecordError> {
    let root = At::root();
    if bytes.len() as u64 > MAX_RECORD_BYTES {
        return Err(root.error(format!("it is larger than the limit of {MAX_RECORD_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| root.error("it is not text; save it as UTF-8"))?
        .trim_start_matches('\u{feff}');
    let node: Node = if text.trim_start().starts_with(['{', '[']) && !is_toml_table(text) {
        serde_json::from_str(text).map_err(|error| {
            let hint = "; NaN and Infinity are no JSON, and neither are single quotes";
            root.error(format!("not valid JSON: {}{hint}", ForeignText::of(error)))
        })?
    } else {
        toml::from_str(text).map_err(|error| {
            let line = error.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
            let line = 1 + line.matches('\n').count();
            root.error(format!(
                "neither JSON nor valid TOML: line {line}: {}",
                ForeignText::new(error.message())
            ))
        })?
    };
    let nodes = node.count();
    if nodes > MOST_NODES {
        let problem = "values, more than the limit of";
        return Err(root.error(format!("it has {nodes} {problem} {MOST_NODES}")));
    }
    Ok(node)
}

/// `[project]`, as TOML begins.
fn is_toml_table(text: &str) -> bool {
    let first =
        text.trim_start().strip_prefix('[').and_then(|rest| rest.trim_start().chars().next());
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
}

impl Node {
    fn count(&self) -> usize {
        1 + match self {
            Node::List(items) => items.iter().map(Node::count).sum(),
            Node::Record(fields) => fields.iter().map(|(_, value)| value.count()).sum::<usize>(),
            _ => 0,
        }
    }

    /// What a message calls it.
    fn kind(&self) -> String {
        match self {
            Node::Null => "null".to_owned(),
            Node::Flag(flag) => flag.to_string(),
            Node::Integer(integer) => integer.to_string(),
            Node::Number(number) => format!("{number:?}"),
            Node::Text(text) => format!("the text `{}`", ForeignText::new(text)),
            Node::List(_) => "a list".to_owned(),
            Node::Record(_) => "an object".to_owned(),
        }
    }

    pub(super) fn list(&self, at: &At) -> Result<&[Node], AccountantRecordError> {
        match self {
            Node::List(items) => Ok(items),
            other => Err(at.error(format!("expected a list, got {}", other.kind()))),
        }
    }

    pub(super) fn record(&self, at: &At) -> Result<&[(String, Node)], AccountantRecordError> {
        match self {
            Node::Record(fields) => Ok(fields),
            other => Err(at.error(format!("expected an object, got {}", other.kind()))),
        }
    }

    pub(super) fn text(&self, at: &At) -> Result<&str, AccountantRecordError> {
        match self {
            Node::Text(text) => Ok(text),
            other => Err(at.error(format!("expected text, got {}", other.kind()))),
        }
    }

    /// A finite number.
    pub(super) fn number(&self, at: &At) -> Result<f64, AccountantRecordError> {
        let number = match self {
            Node::Integer(integer) => *integer as f64,
            Node::Number(number) => *number,
            other => return Err(at.error(format!("expected a number, got {}", other.kind()))),
        };
        if number.is_finite() {
            return Ok(number);
        }
        Err(at.error(format!("is {number:?}; it must be finite")))
    }

    /// A number above 0.
    pub(super) fn positive(&self, at: &At) -> Result<f64, AccountantRecordError> {
        let number = self.number(at)?;
        if number > 0.0 {
            return Ok(number);
        }
        Err(at.error(format!("is {number:?}; it must be above 0")))
    }

    /// An integer up to the limit of steps; 3.0 is one.
    pub(super) fn whole(&self, at: &At) -> Result<u64, AccountantRecordError> {
        let number = self.number(at)?;
        if number.fract() == 0.0 && number >= 0.0 && number <= MOST_STEPS as f64 {
            return Ok(number as u64);
        }
        Err(at.error(format!("is {number:?}; it must be an integer from 0 to 1e9")))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers, texts, lists and objects")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Node, E> {
        Ok(Node::Integer(integer))
    }

    fn visit_u64<E>(self, integer: u64) -> Result<Node, E> {
        Ok(i64::try_from(integer).map_or(Node::Number(integer as f64), Node::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut fields: Vec<(String, Node)> = Vec::new();
        let mut keys = std::collections::HashSet::new();
        while let Some((key, value)) = entries.next_entry::<String, Node>()? {
            if !keys.insert(key.clone()) {
                return Err(de::Error::custom(format!(
                    "the key `{}` is repeated",
                    ForeignText::new(&key)
                )));
            }
            fields.push((key, value));
        }
        Ok(Node::Record(fields))
    }
}
