//! The imports between the files of a crate, read from the sources.
//!
//! A path is resolved to the file that *defines* its item, through modules and re-exports. `mod` lines, re-exports, code under
//! `#[cfg(test)]` and comments are not imports. Derived traits, and the functions that attributes name to serde, are imports.
//! Method calls are not read: their caller has imported a type or a trait already.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A file of a package, as an index.
pub(crate) type File = usize;

/// A module, as an index; 0 is the root.
type Module = usize;

/// The imports of one file from another.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) from: File,
    pub(crate) to: File,
    names: BTreeSet<String>,
}

impl Import {
    /// The imported names, separated by commas.
    pub(crate) fn names(&self) -> String {
        self.names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// The sources of one crate.
#[derive(Debug, Default)]
pub(crate) struct Package {
    files: Vec<String>,
    modules: Vec<Scope>,
    imports: BTreeMap<(File, File), BTreeSet<String>>,
    externals: BTreeSet<(File, String)>,
    through_root: BTreeSet<(File, String)>,
}

/// The names of a module.
#[derive(Debug, Default)]
struct Scope {
    file: File,
    parent: Option<Module>,
    names: HashMap<String, Vec<Entity>>,
    globs: Vec<Vec<String>>,
}

/// The meaning of a name.
#[derive(Debug, Clone)]
enum Entity {
    Module(Module),
    Item(File),
    /// A `use`, with its path.
    Use(Vec<String>),
}

/// The target of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    Module(Module),
    Item(File),
}

impl Package {
    /// Reads the crate whose root file is `entry`, relative to `root`.
    ///
    /// # Errors
    /// A file that cannot be read or parsed.
    pub(crate) fn read(root: &Path, entry: &str) -> Result<Self, String> {
        let mut package = Self::default();
        let mut parsed = Vec::new();
        package.read_file(root, Path::new(entry), None, &mut parsed)?;
        for (module, items) in &parsed {
            Reader { package: &mut package, module: *module }.read(items);
        }
        Ok(package)
    }

    /// All imports between different files, in order.
    pub(crate) fn imports(&self) -> impl Iterator<Item = Import> {
        self.imports.iter().map(|(&(from, to), names)| Import { from, to, names: names.clone() })
    }

    /// The other crates that each file uses.
    pub(crate) fn externals(&self) -> impl Iterator<Item = (File, &str)> {
        self.externals.iter().map(|(file, name)| (*file, name.as_str()))
    }

    /// The names that files import through a re-export of the crate's root.
    pub(crate) fn through_root(&self) -> impl Iterator<Item = (File, &str)> {
        self.through_root.iter().map(|(file, name)| (*file, name.as_str()))
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// A file's path in the workspace.
    pub(crate) fn name(&self, file: File) -> &str {
        &self.files[file]
    }

    fn read_file(
        &mut self,
        root: &Path,
        path: &Path,
        parent: Option<Module>,
        parsed: &mut Vec<(Module, Vec<syn::Item>)>,
    ) -> Result<Module, String> {
        let text = std::fs::read_to_string(root.join(path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let syntax = syn::parse_file(&text).map_err(|error| {
            let at = error.span().start();
            format!("{}:{}:{}: {error}", path.display(), at.line, at.column + 1)
        })?;
        let file = self.files.len();
        self.files.push(path.to_string_lossy().replace('\\', "/"));
        let module = self.scope(file, parent);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_folder_root = parent.is_none() || stem == "mod";
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let children = if is_folder_root { folder } else { folder.join(stem) };
        self.read_items(root, &children, module, syntax.items, parsed)?;
        Ok(module)
    }

    fn read_items(
        &mut self,
        root: &Path,
        children: &Path,
        module: Module,
        items: Vec<syn::Item>,
        parsed: &mut Vec<(Module, Vec<syn::Item>)>,
    ) -> Result<(), String> {
        let mut kept = Vec::new();
        for item in items {
            if is_test(attributes(&item)) {
                continue;
            }
            match item {
                syn::Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let stated = path_attribute(&inner.attrs);
                    let child = match inner.content {
                        Some((_, items)) => {
                            let file = self.modules[module].file;
                            let child = self.scope(file, Some(module));
                            self.read_items(root, &children.join(&name), child, items, parsed)?;
                            child
                        }
                        None => {
                            let file = Path::new(self.name(self.modules[module].file));
                            let path = match stated {
                                Some(stated) => without_parents(&file.with_file_name(stated)),
                                None => child_file(root, children, &name)?,
                            };
                            self.read_file(root, &path, Some(module), parsed)?
                        }
                    };
                    self.define(module, name, Entity::Module(child));
                }
                syn::Item::Use(item) => {
                    let mut leaves = Vec::new();
                    flatten(&item.tree, &mut Vec::new(), &mut leaves);
                    for leaf in leaves {
                        match leaf.name {
                            Some(name) => self.define(module, name, Entity::Use(leaf.path)),
                            None => self.modules[module].globs.push(leaf.path),
                        }
                    }
                    kept.push(syn::Item::Use(item));
                }
                other => {
                    if let Some(name) = name_of(&other) {
                        let file = self.modules[module].file;
                        self.define(module, name, Entity::Item(file));
                    }
                    kept.push(other);
                }
            }
        }
        parsed.push((module, kept));
        Ok(())
    }

    fn scope(&mut self, file: File, parent: Option<Module>) -> Module {
        self.modules.push(Scope { file, parent, ..Scope::default() });
        self.modules.len() - 1
    }

    fn define(&mut self, module: Module, name: String, entity: Entity) {
        self.modules[module].names.entry(name).or_default().push(entity);
    }

    /// The target of a path in a module; none for another crate or a local name.
    fn resolve(&self, module: Module, path: &[String], depth: usize) -> Option<Target> {
        // Modules may import each other by globs.
        if depth > 16 {
            return None;
        }
        let mut at = module;
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => at = 0,
            "self" => {}
            "super" => at = self.modules[module].parent?,
            _ => return self.lookup(module, rest, depth),
        }
        rest = &rest[1..];
        while let Some(first) = rest.first() {
            if first != "super" {
                return self.lookup(at, rest, depth);
            }
            at = self.modules[at].parent?;
            rest = &rest[1..];
        }
        Some(Target::Module(at))
    }

    /// The target of a path that begins with a name of the module.
    fn lookup(&self, module: Module, path: &[String], depth: usize) -> Option<Target> {
        let scope = &self.modules[module];
        let rest = &path[1..];
        let mut fallback = None;
        for entity in scope.names.get(&path[0]).into_iter().flatten() {
            let found = match entity {
                Entity::Module(child) => Some(Target::Module(*child)),
                Entity::Item(file) => Some(Target::Item(*file)),
                // `use wgpu;` refers to itself.
                Entity::Use(target) if target[..] == path[..1] => None,
                Entity::Use(target) => self.resolve(module, target, depth + 1),
            };
            match found {
                Some(Target::Module(child)) if !rest.is_empty() => {
                    if let Some(found) = self.lookup(child, rest, depth + 1) {
                        return Some(found);
                    }
                }
                // A variant or an associated item is in the file of its type.
                Some(found @ Target::Item(_)) => return Some(found),
                Some(found) => fallback = Some(found),
                None => {}
            }
        }
        if fallback.is_some() {
            return fallback;
        }
        scope.globs.iter().find_map(|glob| match self.resolve(module, glob, depth + 1)? {
            Target::Module(from) if from != module => self.lookup(from, path, depth + 1),
            _ => None,
        })
    }

    /// Records the import of a path in a module.
    fn record(&mut self, module: Module, path: &[String]) {
        let from = self.modules[module].file;
        if let [first, second, ..] = path
            && first == "crate"
            && self.modules[0].names.get(second).is_some_and(|all| {
                all.iter().all(|entity| matches!(entity, Entity::Use(target) if target.len() > 1))
            })
            && from != self.modules[0].file
        {
            self.through_root.insert((from, second.clone()));
        }
        match self.resolve(module, path, 0) {
            // A module itself is no import; the paths through it are.
            Some(Target::Module(_)) => {}
            Some(Target::Item(to)) => {
                if from != to {
                    let name = path.last().cloned().unwrap_or_default();
                    self.imports.entry((from, to)).or_default().insert(name);
                }
            }
            None => {
                if let Some(first) = path.first()
                    && path.len() > 1
                    && !self.modules[module].names.contains_key(first)
                {
                    self.externals.insert((from, first.clone()));
                }
            }
        }
    }
}

/// Records the paths of a module.
struct Reader<'a> {
    package: &'a mut Package,
    module: Module,
}

impl Reader<'_> {
    fn read(&mut self, items: &[syn::Item]) {
        for item in items {
            // A re-export is not an import; its users import.
            if let syn::Item::Use(item) = item
                && !matches!(item.vis, syn::Visibility::Inherited)
            {
                self.external_reexports(&item.tree);
                continue;
            }
            self.visit_item(item);
        }
    }

    /// Records the re-exports of other crates.
    fn external_reexports(&mut self, tree: &syn::UseTree) {
        let mut leaves = Vec::new();
        flatten(tree, &mut Vec::new(), &mut leaves);
        for leaf in leaves {
            if self.package.resolve(self.module, &leaf.path, 0).is_none() {
                self.package.record(self.module, &leaf.path);
            }
        }
    }

    /// Records the paths in string literals.
    fn literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.literals(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                    let Ok(path) = text.and_then(|text| text.parse::<syn::Path>()) else { continue };
                    let mut names: Vec<String> =
                        path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                    // Of a module serde calls `serialize` and similar functions.
                    if let Some(Target::Module(_)) = self.package.resolve(self.module, &names, 0) {
                        names.push("serialize".to_owned());
                    }
                    self.package.record(self.module, &names);
                }
                _ => {}
            }
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.package.record(self.module, &path);
                        path.clear();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    if !path.is_empty() {
                        self.package.record(self.module, &path);
                        path.clear();
                    }
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        if !path.is_empty() {
            self.package.record(self.module, &path);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.package.record(self.module, &names);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        for leaf in leaves {
            self.package.record(self.module, &leaf.path);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    /// Derived traits are from other crates, and attributes of serde name functions in string literals.
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta
            && ["derive", "cfg_attr", "serde"].iter().any(|name| list.path.is_ident(name))
        {
            self.tokens(list.tokens.clone());
            self.literals(list.tokens.clone());
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// One name of a `use`, or a glob.
struct Leaf {
    path: Vec<String>,
    /// The name in this module; none for a glob.
    name: Option<String>,
}

fn flatten(tree: &syn::UseTree, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
    match tree {
        syn::UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            flatten(&inner.tree, path, leaves);
            path.pop();
        }
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, path, leaves);
            }
        }
        syn::UseTree::Glob(_) => leaves.push(Leaf { path: path.clone(), name: None }),
        syn::UseTree::Name(name) => leaf(&name.ident, name.ident.to_string(), path, leaves),
        syn::UseTree::Rename(rename) => leaf(&rename.ident, rename.rename.to_string(), path, leaves),
    }
}

/// Adds the name at the end of a path; `self` is the module itself.
fn leaf(ident: &proc_macro2::Ident, name: String, path: &[String], leaves: &mut Vec<Leaf>) {
    let mut whole = path.to_vec();
    if ident == "self" && !path.is_empty() {
        let name = if name == "self" { path[path.len() - 1].clone() } else { name };
        leaves.push(Leaf { path: whole, name: Some(name) });
    } else {
        whole.push(ident.to_string());
        leaves.push(Leaf { path: whole, name: Some(name) });
    }
}

fn child_file(root: &Path, folder: &Path, name: &str) -> Result<PathBuf, String> {
    let both = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let found = both.iter().find(|path| root.join(path).is_file());
    found.cloned().ok_or_else(|| format!("{}: no such file, nor {}", both[0].display(), both[1].display()))
}

/// The path of a `#[path = "…"]` attribute.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("path") => Some(text.value()),
        _ => None,
    })
}

/// The path without `..`.
fn without_parents(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        if part == std::path::Component::ParentDir {
            whole.pop();
        } else {
            whole.push(part);
        }
    }
    whole
}

/// Whether there is an attribute `#[cfg(test)]`, or `#[cfg(all(test, …))]`.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| {
                let mut words = list.tokens.clone().into_iter();
                match words.next() {
                    Some(TokenTree::Ident(first)) if first == "test" => true,
                    Some(TokenTree::Ident(first)) if first == "all" => matches!(
                        words.next(),
                        Some(TokenTree::Group(group)) if group.stream().to_string().starts_with("test")
                    ),
                    _ => false,
                }
            })
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
