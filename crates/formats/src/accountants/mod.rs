//! Records of other accountants: what they recorded of a training, as JSON or TOML.
//!
//! | record | written by |
//! |---|---|
//! | a tree of `DpEvent` | `dp_accounting`, with the lines of `crates/cli/examples/imports/dp_event_json.py` |
//! | a history | Opacus: `accountant.history` or `accountant.state_dict()` |
//! | the settings of a strategy | Flower: `pyproject.toml`, or a table of its own |
//!
//! dp_accounting has no JSON of its own. A tree is an object for each event: `type`, the name of the
//! class, and its fields, as `attrs` lists them. The fields `module_name` and `class_name` of
//! `to_named_tuple` are accepted in place of `type`.
//!
//! ```json
//! {"type": "SelfComposedDpEvent", "count": 1000, "event":
//!   {"type": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event":
//!     {"type": "GaussianDpEvent", "noise_multiplier": 1.1}}}
//! ```
//!
//! Nothing is ignored: an event, a field or a type of value that is not known is refused, with its
//! path in the file.

mod dp_event;
mod flower;
mod node;
mod opacus;
mod record;

pub use flower::{FlowerClipping, FlowerPrivacy};
use node::{At, Node};
pub use record::{AccountantRecordError, GaussianPhase, MAX_RECORD_BYTES, TreeAggregation};

/// A record of another accountant.
#[derive(Debug, Clone, PartialEq)]
pub enum AccountantRecord {
    /// A tree of events of dp_accounting, as its phases in order.
    DpEvent(Vec<GaussianPhase>),
    /// One event of dp_accounting: tree aggregation, whose noise is correlated between steps.
    Tree(TreeAggregation),
    /// The history of an accountant of Opacus.
    Opacus(Vec<GaussianPhase>),
    /// The settings of Flower's differential privacy.
    Flower(FlowerPrivacy),
}

/// What the file may be.
const KNOWN: &str = "it is none of a DpEvent tree (an object with `type`), a history of Opacus (a \
                     list of [noise_multiplier, sample_rate, steps], or an object with `history`) \
                     and privacy settings of Flower (`noise_multiplier` and \
                     `num_sampled_clients`)";

/// Reads a record; the format is recognised by its content.
///
/// # Errors
/// [`AccountantRecordError`] for text that is neither JSON nor TOML, for records of other formats,
/// and for any event, field or value that is not known.
///
/// # Example
/// ```
/// use dpscope_formats::accountants::{AccountantRecord, GaussianPhase, read_accountant_record};
/// let phases = vec![GaussianPhase { noise_multiplier: 1.1, sampling_rate: 0.01, steps: 500 }];
/// assert_eq!(read_accountant_record(b"[[1.1, 0.01, 500]]"), Ok(AccountantRecord::Opacus(phases)));
/// let error = read_accountant_record(br#"{"type": "MyEvent"}"#).unwrap_err();
/// assert!(error.to_string().starts_with("$.type: unknown event `MyEvent`"));
/// ```
pub fn read_accountant_record(bytes: &[u8]) -> Result<AccountantRecord, AccountantRecordError> {
    let node = node::parse(bytes)?;
    let root = At::root();
    match &node {
        Node::List(items) if matches!(items.first(), Some(Node::Text(_))) => Err(root.error(
            "a named tuple has lost the names of its fields; save the event with the lines of \
             crates/cli/examples/imports/dp_event_json.py, or pass it to dpscope.check in Python",
        )),
        Node::List(_) => opacus::history(&node, &root).map(AccountantRecord::Opacus),
        Node::Record(fields) => {
            let has = |names: &[&str]| fields.iter().any(|(key, _)| names.contains(&key.as_str()));
            if has(&["type", "class_name"]) {
                match dp_event::tree(&node)? {
                    Some(tree) => Ok(AccountantRecord::Tree(tree)),
                    None => dp_event::phases(&node).map(AccountantRecord::DpEvent),
                }
            } else if has(&["history"]) {
                opacus::state(fields, &root).map(AccountantRecord::Opacus)
            } else if let Some((fields, at, is_own_file)) = flower::table(fields) {
                flower::read(fields, &at, is_own_file).map(AccountantRecord::Flower)
            } else {
                Err(fields.iter().find(|(_, value)| has_history(value)).map_or_else(
                    || root.error(KNOWN),
                    |(name, _)| {
                        root.field(name).error(
                            "this field has the history of an accountant, and the file has more; save \
                             this field alone",
                        )
                    },
                ))
            }
        }
        _ => Err(root.error(KNOWN)),
    }
}

/// Whether a field of a checkpoint is the state of an accountant.
fn has_history(node: &Node) -> bool {
    matches!(node, Node::Record(fields) if fields.iter().any(|(name, _)| name == "history"))
}
