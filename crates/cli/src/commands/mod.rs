//! One file a command.

pub(crate) mod bench;
pub(crate) mod bgm;
pub(crate) mod bound;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod counts;
pub(crate) mod devices;
pub(crate) mod dpsgd;
mod lines;
pub(crate) mod merge;
pub(crate) mod outputs;
pub(crate) mod plan;
mod recorded;
pub(crate) mod reproduce;
pub(crate) mod resume;
pub(crate) mod scores;
pub(crate) mod serve;
mod simulate;
pub(crate) mod sweep;

/// Text in lines of at most 80 columns.
fn wrapped(text: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let more = word.chars().count();
        if width > 0 && width + 1 + more > 80 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += more;
    }
    out + "\n"
}
