//! What the code of one module names: items, imports and paths.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::source::item_length;

/// A name that a module takes from elsewhere; without a name, all of them.
pub(super) struct Import {
    pub(super) name: Option<String>,
    pub(super) path: Vec<String>,
    pub(super) is_public: bool,
    pub(super) line: usize,
}

/// A path in code.
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether a `!` follows.
    pub(super) is_macro: bool,
    /// Whether a macro that makes items takes it: a module that it names may end up in a path.
    pub(super) makes_items: bool,
}

/// Contents of a module, without the modules inside it.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) items: Vec<String>,
    pub(super) macros: Vec<String>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
    pub(super) modules: Vec<ItemMod>,
    /// Whether the tokens being scanned are those that a macro makes items from.
    makes_items: bool,
}

impl Contents {
    pub(super) fn of(items: Vec<Item>) -> Self {
        let mut contents = Self::default();
        for item in items {
            contents.add(item);
        }
        contents
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Mod(module) => return self.modules.push(module),
            Item::Use(item) => return self.import(&item),
            _ => {}
        }
        match &item {
            Item::Macro(item) => {
                self.macros.extend(item.ident.as_ref().map(ToString::to_string));
            }
            item => self.items.extend(name_of(item)),
        }
        self.makes_items = matches!(&item, Item::Macro(item) if item.ident.is_none());
        self.scan(item.into_token_stream());
        self.makes_items = false;
    }

    fn import(&mut self, item: &ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.import_tree(&item.tree, &mut Vec::new(), is_public);
    }

    fn import_tree(&mut self, tree: &UseTree, before: &mut Vec<String>, is_public: bool) {
        let mut add = |name: Option<String>, last: Option<&Ident>, line| {
            let path = before.iter().cloned().chain(last.map(plain)).collect();
            self.imports.push(Import { name, path, is_public, line });
        };
        match tree {
            UseTree::Path(step) => {
                before.push(plain(&step.ident));
                self.import_tree(&step.tree, before, is_public);
                before.pop();
            }
            UseTree::Name(end) if end.ident == "self" => {
                add(before.last().cloned(), None, line(&end.ident));
            }
            UseTree::Name(end) => add(Some(plain(&end.ident)), Some(&end.ident), line(&end.ident)),
            UseTree::Rename(end) => {
                let last = (end.ident != "self").then_some(&end.ident);
                add(Some(plain(&end.rename)), last, line(&end.ident));
            }
            UseTree::Glob(end) => add(None, None, end.star_token.spans[0].start().line),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import_tree(tree, before, is_public);
                }
            }
        }
    }

    /// Paths and imports in tokens: those inside macros are seen too.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += match &tokens[at] {
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    1
                }
                TokenTree::Ident(word) if word == "use" => {
                    let item = &tokens[at..at + item_length(&tokens[at..])];
                    match syn::parse2::<ItemUse>(item.iter().cloned().collect()) {
                        Ok(import) => {
                            self.import(&import);
                            item.len()
                        }
                        Err(_) => 1,
                    }
                }
                TokenTree::Ident(word) if !is_a_member(&tokens[..at]) => {
                    self.path(word, &tokens[at + 1..])
                }
                _ => 1,
            };
        }
    }

    /// Reads a path from its first word on; returns its length in tokens.
    fn path(&mut self, first: &Ident, rest: &[TokenTree]) -> usize {
        let mut path = vec![plain(first)];
        let mut length = 0;
        while let [a, b, TokenTree::Ident(word), ..] = &rest[length..]
            && is_punct(a, ':')
            && is_punct(b, ':')
        {
            path.push(plain(word));
            length += 3;
        }
        let after = rest.get(length);
        let is_macro = after.is_some_and(|token| is_punct(token, '!'));
        // `name: Type` is a field or a parameter.
        let is_label = after.is_some_and(|token| {
            matches!(token, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == Spacing::Alone)
        });
        if path.len() > 1 || !is_label {
            let makes_items = self.makes_items;
            self.mentions.push(Mention { path, line: line(first), is_macro, makes_items });
        }
        length + 1
    }
}

fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_string()
}

fn line(ident: &Ident) -> usize {
    ident.span().start().line
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

/// Whether what follows `before` is a field, a method, a lifetime, the rest of a qualified path or
/// the name of a function that is being defined.
fn is_a_member(before: &[TokenTree]) -> bool {
    match before {
        [.., a, b] if is_punct(a, '.') && is_punct(b, '.') => false,
        [.., a, b] if is_punct(a, ':') && is_punct(b, ':') => true,
        [.., TokenTree::Ident(word)] => word == "fn",
        [.., last] => is_punct(last, '.') || is_punct(last, '\''),
        [] => false,
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(plain(ident))
}
