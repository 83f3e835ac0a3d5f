//! The places of a Rust file where a mutant can be guarded.

use std::collections::HashMap;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The places, by the byte where what is mutated begins.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    /// The bodies of functions, with their braces.
    pub(crate) bodies: Vec<Range<usize>>,
    pub(crate) binaries: HashMap<usize, Binary>,
    pub(crate) unaries: HashMap<usize, Unary>,
    pub(crate) arms: HashMap<usize, Arm>,
    /// The conditions of arms.
    pub(crate) guards: HashMap<usize, Range<usize>>,
    /// Expressions of structures with a base, by their fields.
    pub(crate) fields: HashMap<usize, Range<usize>>,
    /// What the compiler evaluates: there is nothing to choose at run time.
    pub(crate) constants: Vec<Range<usize>>,
    /// Where the body of the function `wgsl_in` is, which composes a kernel's WGSL.
    pub(crate) composer: Option<Range<usize>>,
}

/// An expression with a binary operator.
#[derive(Debug)]
pub(crate) struct Binary {
    pub(crate) whole: Range<usize>,
    pub(crate) left: Range<usize>,
    pub(crate) right: Range<usize>,
    /// It is a condition with `let`, which cannot stand in parentheses.
    pub(crate) has_let: bool,
}

/// An expression with a unary operator.
#[derive(Debug)]
pub(crate) struct Unary {
    pub(crate) whole: Range<usize>,
    pub(crate) operand: Range<usize>,
}

/// An arm of a `match`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) pattern_end: usize,
    pub(crate) has_guard: bool,
}

impl Sites {
    /// # Errors
    /// The text is not Rust.
    pub(crate) fn find(text: &str) -> Result<Self, syn::Error> {
        let file = syn::parse_file(text)?;
        let mut sites = Self::default();
        sites.visit_file(&file);
        Ok(sites)
    }

    /// The innermost body that contains `range`.
    pub(crate) fn body(&self, range: &Range<usize>) -> Option<&Range<usize>> {
        let around = self.bodies.iter().filter(|body| contains(body, range));
        around.min_by_key(|body| body.len())
    }

    /// Whether the compiler evaluates what is at `range`.
    pub(crate) fn is_constant(&self, range: &Range<usize>) -> bool {
        self.constants.iter().any(|constant| contains(constant, range))
    }

    fn add_body(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let body = range(block);
        if signature.constness.is_some() {
            self.constants.push(body.clone());
        }
        if signature.ident == "wgsl_in" {
            self.composer = Some(body.clone());
        }
        self.bodies.push(body);
    }
}

/// Whether `inner` is within `outer`.
pub(crate) fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

/// Whether a condition has a `let` of its own.
fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Sites {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add_body(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add_body(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add_body(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constants.push(range(item));
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constants.push(range(item));
        visit::visit_impl_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constants.push(range(item));
        visit::visit_item_static(self, item);
    }

    fn visit_expr_const(&mut self, expr: &'ast syn::ExprConst) {
        self.constants.push(range(expr));
        visit::visit_expr_const(self, expr);
    }

    fn visit_type_array(&mut self, array: &'ast syn::TypeArray) {
        self.constants.push(range(&array.len));
        visit::visit_type_array(self, array);
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.constants.push(range(&repeat.len));
        visit::visit_expr_repeat(self, repeat);
    }

    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        let binary = Binary {
            whole: range(expr),
            left: range(&expr.left),
            right: range(&expr.right),
            has_let: has_let(&expr.left) || has_let(&expr.right),
        };
        self.binaries.insert(range(&expr.op).start, binary);
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast syn::ExprUnary) {
        let unary = Unary { whole: range(expr), operand: range(&expr.expr) };
        self.unaries.insert(range(&expr.op).start, unary);
        visit::visit_expr_unary(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let has_guard = matches!(arm.pat, syn::Pat::Guard(_));
        self.arms.insert(range(arm).start, Arm { pattern_end: range(&arm.pat).end, has_guard });
        visit::visit_arm(self, arm);
    }

    fn visit_pat_guard(&mut self, pattern: &'ast syn::PatGuard) {
        if !has_let(&pattern.guard) {
            self.guards.insert(range(&pattern.guard).start, range(&pattern.guard));
        }
        visit::visit_pat_guard(self, pattern);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        if expr.rest.is_some() {
            for field in &expr.fields {
                self.fields.insert(range(field).start, range(expr));
            }
        }
        visit::visit_expr_struct(self, expr);
    }
}
