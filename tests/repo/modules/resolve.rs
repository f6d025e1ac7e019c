//! The modules of one crate, and which of them a name leads to.

use std::collections::BTreeSet;

use syn::{Attribute, Expr, ExprLit, File, Item, ItemMod, Lit, Meta};

use super::scan::Contents;
use crate::source::{tokens, without_tests};
use crate::tree::{Tree, folder};

struct Module {
    /// The file, and the inline modules within it.
    label: String,
    parent: Option<usize>,
    children: Vec<(String, usize)>,
    contents: Contents,
}

pub(super) struct Crate {
    modules: Vec<Module>,
}

/// Code in one module that names an item of another.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) line: usize,
    pub(super) name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(usize),
    /// A named item that is defined in this module.
    Item(usize, String),
}

type Seen = BTreeSet<(usize, String)>;

/// Place of a module in the tree.
struct Place<'a> {
    file: &'a str,
    label: String,
    /// The folder of the files of its child modules.
    folder: String,
    parent: Option<usize>,
}

impl Crate {
    /// # Panics
    ///
    /// Where a file is missing or is no Rust: the tree does not compile then.
    pub(super) fn load(tree: &Tree, root: &str) -> Self {
        let mut krate = Self { modules: Vec::new() };
        let place = Place {
            file: root,
            label: root.to_string(),
            folder: folder(root).to_string(),
            parent: None,
        };
        krate.add(tree, &place, items_of(tree, root));
        krate
    }

    fn add(&mut self, tree: &Tree, place: &Place, items: Vec<Item>) -> usize {
        let mut contents = Contents::of(items);
        let modules = std::mem::take(&mut contents.modules);
        let index = self.modules.len();
        self.modules.push(Module {
            label: place.label.clone(),
            parent: place.parent,
            children: Vec::new(),
            contents,
        });
        for module in modules {
            let name = module.ident.to_string();
            let child = self.add_child(tree, place, index, module);
            self.modules[index].children.push((name, child));
        }
        index
    }

    fn add_child(&mut self, tree: &Tree, place: &Place, parent: usize, module: ItemMod) -> usize {
        let name = module.ident.to_string();
        let inner = format!("{}/{name}", place.folder);
        if let Some((_, items)) = module.content {
            let label = format!("{}::{name}", place.label);
            let place = Place { file: place.file, label, folder: inner, parent: Some(parent) };
            return self.add(tree, &place, items);
        }
        let file = match module.attrs.iter().find_map(explicit_path) {
            Some(path) => normal(&format!("{}/{path}", folder(place.file))),
            None if tree.has(&format!("{inner}.rs")) => format!("{inner}.rs"),
            None => format!("{inner}/mod.rs"),
        };
        let items = items_of(tree, &file);
        let place = Place { file: &file, label: file.clone(), folder: inner, parent: Some(parent) };
        self.add(tree, &place, items)
    }

    pub(super) fn label(&self, module: usize) -> &str {
        &self.modules[module].label
    }

    /// Every place where code of one module names an item of another.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, module) in self.modules.iter().enumerate() {
            let imports = module.contents.imports.iter().filter(|import| !import.is_public);
            let imports = imports.map(|import| (&import.path, import.line, false, false));
            let mentions = module.contents.mentions.iter().map(|mention| {
                (&mention.path, mention.line, mention.is_macro, mention.makes_items)
            });
            for (path, line, is_macro, makes_items) in imports.chain(mentions) {
                let mut targets = self.resolve(from, path, &mut Seen::new());
                if is_macro && targets.is_empty() {
                    targets = self.macros(path);
                }
                for target in targets {
                    let (to, name) = match target {
                        Target::Item(to, name) => (to, name),
                        // `x!(… => b)` may expand to `b::run()`.
                        Target::Module(to) if makes_items => (to, path.join("::")),
                        Target::Module(_) => continue,
                    };
                    if to != from {
                        edges.push(Edge { from, to, line, name });
                    }
                }
            }
        }
        edges
    }

    /// Macros are found by their order in the text, or at the root: by name is near enough.
    fn macros(&self, path: &[String]) -> Vec<Target> {
        let Some(name) = path.last() else { return Vec::new() };
        let modules = self.modules.iter().enumerate();
        let defining = modules.filter(|(_, module)| module.contents.macros.contains(name));
        defining.map(|(module, _)| Target::Item(module, name.clone())).collect()
    }

    /// What `path` in `from` leads to.
    fn resolve(&self, from: usize, path: &[String], seen: &mut Seen) -> Vec<Target> {
        let mut targets = vec![Target::Module(from)];
        for (at, name) in path.iter().enumerate() {
            let mut next = BTreeSet::new();
            for target in targets {
                match target {
                    // A variant or an associated item.
                    item @ Target::Item(..) => drop(next.insert(item)),
                    Target::Module(module) => next.extend(match name.as_str() {
                        "crate" => vec![Target::Module(0)],
                        "self" => vec![Target::Module(module)],
                        "super" => {
                            self.modules[module].parent.map(Target::Module).into_iter().collect()
                        }
                        name => self.look_up(module, name, seen),
                    }),
                }
            }
            let is_last = at + 1 == path.len();
            let is_module = |target: &Target| matches!(target, Target::Module(_));
            // A module and a function may share a name.
            if next.iter().any(|target| is_module(target) != is_last) {
                next.retain(|target| is_module(target) != is_last);
            }
            targets = next.into_iter().collect();
        }
        targets
    }

    /// What a name means in a module: an item or a child of its own, an import, else a glob import.
    fn look_up(&self, module: usize, name: &str, seen: &mut Seen) -> Vec<Target> {
        if !seen.insert((module, name.to_string())) {
            return Vec::new();
        }
        let Module { children, contents, .. } = &self.modules[module];
        let children = children.iter().filter(|(child, _)| child == name);
        let mut targets: Vec<Target> = children.map(|&(_, child)| Target::Module(child)).collect();
        if contents.items.iter().chain(&contents.macros).any(|item| item == name) {
            targets.push(Target::Item(module, name.to_string()));
        }
        for import in contents.imports.iter().filter(|import| import.name.as_deref() == Some(name))
        {
            targets.extend(self.resolve(module, &import.path, seen));
        }
        if targets.is_empty() {
            for glob in contents.imports.iter().filter(|import| import.name.is_none()) {
                for target in self.resolve(module, &glob.path, seen) {
                    if let Target::Module(other) = target {
                        targets.extend(self.look_up(other, name, seen));
                    }
                }
            }
        }
        targets
    }
}

fn items_of(tree: &Tree, path: &str) -> Vec<Item> {
    let source = tree.text(path).expect(path);
    syn::parse2::<File>(without_tests(tokens(source))).expect(path).items
}

/// The value of `#[path = "…"]`.
fn explicit_path(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) if pair.path.is_ident("path") => {
            Some(path.value())
        }
        _ => None,
    }
}

/// `path` without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
