//! The markup of a page's figure: what drawings have, and nothing that draws elsewhere.

/// Elements around the shapes, and their attributes.
const ELEMENTS: [(&str, &[&str]); 4] = [
    (
        "svg",
        &["aria-labelledby", "data-program", "fill", "font-family", "role", "viewBox", "xmlns"],
    ),
    ("desc", &["id"]),
    ("title", &["id"]),
    ("defs", &[]),
];

/// Elements of drawings, and their attributes.
const SHAPES: [&str; 9] =
    ["circle", "clipPath", "g", "path", "polygon", "polyline", "rect", "text", "tspan"];
const SHAPE_ATTRIBUTES: [&str; 22] = [
    "clip-path",
    "cx",
    "cy",
    "d",
    "dy",
    "fill",
    "fill-opacity",
    "font-size",
    "height",
    "id",
    "points",
    "r",
    "shape-rendering",
    "stroke",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-width",
    "text-anchor",
    "transform",
    "width",
    "x",
    "y",
];

/// The first piece of markup that no drawing of this program has; none in a drawing of this program.
///
/// Elements are closed in order, and attributes are in double quotes.
pub(super) fn foreign_markup(figure: &str) -> Option<&str> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = figure;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').map_or(rest.len(), |length| start + length + 1);
        let tag = &rest[start..end];
        let inside = tag.strip_prefix('<')?.strip_suffix('>');
        let is_known = inside.is_some_and(|inside| match inside.strip_prefix('/') {
            Some(name) => open.pop() == Some(name),
            None => match inside.strip_suffix('/') {
                Some(inside) => opened(inside).is_some_and(|name| SHAPES.contains(&name)),
                None => opened(inside).is_some_and(|name| {
                    open.push(name);
                    true
                }),
            },
        });
        if !is_known {
            return Some(tag);
        }
        rest = &rest[end..];
    }
    open.pop()
}

/// The name of an element with known attributes.
fn opened(inside: &str) -> Option<&str> {
    let (name, mut rest) = inside.split_at(inside.find(' ').unwrap_or(inside.len()));
    let attributes = match ELEMENTS.iter().find(|(element, _)| *element == name) {
        Some((_, attributes)) => *attributes,
        None => SHAPES.contains(&name).then_some(&SHAPE_ATTRIBUTES[..])?,
    };
    while !rest.is_empty() {
        let (attribute, value) = rest.strip_prefix(' ')?.split_once("=\"")?;
        let (_, after) = value.split_once('"')?;
        attributes.contains(&attribute).then_some(())?;
        rest = after;
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::escaped;

    #[test]
    fn markup_of_the_writer_is_known() {
        let figure = "<svg xmlns=\"http://www.w3.org/2000/svg\" data-program=\"dpscope\" \
            viewBox=\"0 0 1 1\">\n<title id=\"a\">b &lt;d></title><g clip-path=\"url(#x)\"><path \
            fill=\"#fff\" d=\"M0 0\"/></g></svg>\n";
        assert_eq!(foreign_markup(figure), None);
        assert_eq!(foreign_markup(&escaped("<script>\"'")), None);
    }

    #[test]
    fn other_markup_is_foreign() {
        for markup in [
            "<script>alert(1)</script>",
            "<meta http-equiv=\"refresh\" content=\"0;url=x\">",
            "<iframe src=\"x\"></iframe>",
            "<base href=\"x\">",
            "<link rel=\"stylesheet\" href=\"x\">",
            "<style>h1 { display: none }</style>",
            "<p style=\"position:fixed\">x</p>",
            "<form action=\"x\"></form>",
            "<h1>epsilon 0</h1>",
            "<header></header>",
            "<p class=\"verdict not-refuted\">x</p>",
            "<svg overflow=\"visible\"></svg>",
            "<svg x=\"-9\"></svg>",
            "<svg transform=\"translate(0 -900)\"></svg>",
            "<svg><foreignObject></foreignObject></svg>",
            "<svg><animate attributeName=\"y\"/></svg>",
            "<svg><text onclick=\"x\">x</text></svg>",
            "<svg><image href=\"x\"/></svg>",
            "<P>x</P>",
            "<p>x</p>",
            "<svg/>",
            "<g\nid=\"x\">x</g>",
            "<g id=x>x</g>",
            "<g id='right'>x</g>",
            "</main>",
            "<!-- -->",
            "<![CDATA[x]]>",
            "<svg>",
            "<svg><g></svg></g>",
            "<",
            "<g",
            "< g></g>",
            "<pre id=\"dpscope-report\"></pre>",
        ] {
            assert!(foreign_markup(markup).is_some(), "{markup}");
        }
    }
}
