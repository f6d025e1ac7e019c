//! Elements of an SVG, as text.

use dpscope_core::foreign_text::is_plain;

/// How a drawing of this program begins.
pub const SVG_MARK: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" data-program="dpscope""#;

/// A point of the drawing, in its own units.
pub(super) type Place = (f64, f64);

/// Text as XML; characters that XML cannot contain are replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_whitespace() => out.push(' '),
            c if !is_plain(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate: a tenth of a unit is finer than any screen.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Points as a list of coordinates, without those closer than half a unit to the last.
fn list(points: &[Place]) -> String {
    let mut out = String::new();
    let mut last: Option<Place> = None;
    for (index, &(x, y)) in points.iter().enumerate() {
        let is_near = last.is_some_and(|at| (at.0 - x).abs() < 0.5 && (at.1 - y).abs() < 0.5);
        if is_near && index + 1 < points.len() {
            continue;
        }
        let gap = if out.is_empty() { "" } else { " " };
        out.push_str(&format!("{gap}{},{}", coordinate(x), coordinate(y)));
        last = Some((x, y));
    }
    out
}

/// A drawing of some width and height; title and description are not escaped yet.
pub(super) fn document(title: &str, description: &str, (wide, high): Place, body: &str) -> String {
    let (title, description) = (escaped(title), escaped(description));
    let (wide, high) = (coordinate(wide), coordinate(high));
    format!(
        "{SVG_MARK} viewBox=\"0 0 {wide} {high}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{description}</desc>\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"#fff\"/>\n\
         {body}</svg>\n"
    )
}

/// Style of a line: colour and dashes each distinguish the curves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(super) dashes: &'static str,
}

impl Stroke {
    fn attributes(self) -> String {
        let Stroke { colour, width, dashes } = self;
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(r#" stroke-dasharray="{dashes}""#)
        };
        format!(
            r#"fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}"#
        )
    }
}

pub(super) fn polyline(points: &[Place], stroke: Stroke) -> String {
    format!("<polyline points=\"{}\" {}/>\n", list(points), stroke.attributes())
}

pub(super) fn area(points: &[Place], colour: &str, opacity: f64) -> String {
    format!(
        "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"{opacity}\" stroke=\"none\"/>\n",
        list(points)
    )
}

/// Whether a text starts, is centred or ends at its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A line of text that is not escaped yet.
pub(super) fn text(at: Place, anchor: Anchor, size: u32, words: &str) -> String {
    marked_text(at, anchor, size, "", &escaped(words))
}

/// As [`text`], turned to be read from below.
pub(super) fn upright_text(at: Place, size: u32, words: &str) -> String {
    let (x, y) = (coordinate(at.0), coordinate(at.1));
    let turned = format!(r#" transform="rotate(-90 {x} {y})""#);
    marked_text(at, Anchor::Middle, size, &turned, &escaped(words))
}

/// As [`text`], with what follows `^` raised.
pub(super) fn raised_text(at: Place, anchor: Anchor, size: u32, words: &str) -> String {
    let Some((base, raised)) = words.split_once('^') else { return text(at, anchor, size, words) };
    let small = size * 3 / 4;
    let (base, raised) = (escaped(base), escaped(raised));
    let inside = format!(r#"{base}<tspan dy="-6" font-size="{small}">{raised}</tspan>"#);
    marked_text(at, anchor, size, "", &inside)
}

/// A text element; nothing without words.
fn marked_text(at: Place, anchor: Anchor, size: u32, attributes: &str, inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    let (x, y) = (coordinate(at.0), coordinate(at.1));
    let anchor = anchor.name();
    format!(
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{attributes}>\
         {inside}</text>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        let hostile = "<script>alert('&\"')</script>\u{0}\u{1b}[2J\n\u{ffff}";
        let safe = escaped(hostile);
        assert!(
            !safe.contains(['<', '>', '\'', '"', '\u{0}', '\u{1b}', '\n', '\u{ffff}']),
            "{safe}"
        );
        assert_eq!(escaped("a & b"), "a &amp; b");
    }

    #[test]
    fn near_points_are_one_and_the_last_stays() {
        assert_eq!(list(&[(0.0, 0.0), (0.1, 0.1), (5.04, 1.0), (5.1, 1.1)]), "0,0 5,1 5.1,1.1");
        assert_eq!(list(&[]), "");
    }
}
