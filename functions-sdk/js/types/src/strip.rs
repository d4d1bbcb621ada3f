//! TypeScript becomes JavaScript by blanking its types out. What is left stands where it stood, so that lines and columns
//! in stack traces are those of the author's file, and no map is needed.
//!
//! Syntax that makes code (enums, namespaces, parameter properties) cannot be blanked out: it is refused, with what to
//! write instead.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AccessorProperty, ArrowFunctionExpression, Class, ClassElement, Declaration, Decorator,
    ExportDefaultDeclarationKind, ExportSpecifier, FormalParameter, ImportOrExportKind, ImportSpecifier,
    MethodDefinition, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType, Statement, TSAsExpression,
    TSInstantiationExpression, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter, TSTypeAnnotation,
    TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType, Span};

use crate::blanks::Blanks;
use crate::excerpt;
use crate::words::words;

/// Modifiers of class members that are about types alone.
const MODIFIERS: [&str; 7] = ["public", "private", "protected", "readonly", "abstract", "override", "declare"];

/// The JavaScript of a TypeScript file.
pub fn strip(file_name: &str, source: &str) -> Result<String, String> {
    let fault =
        |offset: usize, message: &str| excerpt::explain(file_name, source, offset, &format!("SyntaxError: {message}"));
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts().with_module(true)).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        let offset = error.labels.first().map_or(0, |label| label.offset() as usize);
        return Err(fault(offset, &error.message));
    }
    let mut stripper = Stripper { out: Blanks::new(source), refused: None };
    stripper.visit_program(&parsed.program);
    match stripper.refused {
        Some((offset, message)) => Err(fault(offset, message)),
        None => Ok(stripper.out.finish()),
    }
}

struct Stripper<'s> {
    out: Blanks<'s>,
    /// The first thing that cannot be blanked out.
    refused: Option<(usize, &'static str)>,
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

impl Stripper<'_> {
    fn refuse(&mut self, span: Span, message: &'static str) {
        self.refused.get_or_insert((span.start as usize, message));
    }

    fn blank_after(&mut self, inner: Span, outer: Span) {
        self.out.blank(inner.end as usize..outer.end as usize);
    }

    /// Blanks those words between two places that are in `list`.
    fn blank_words(&mut self, start: u32, end: u32, list: &[&str]) {
        let found: Vec<_> = words(self.out.source(), start as usize..end as usize)
            .filter(|(_, word)| list.contains(word))
            .map(|(range, _)| range)
            .collect();
        for range in found {
            self.out.blank(range);
        }
    }

    /// Blanks a `?` or `!` that follows a name.
    fn blank_mark(&mut self, from: u32) {
        let source = self.out.source();
        let after = words(source, from as usize..source.len()).find(|(_, word)| *word != "]");
        if let Some((range, "?" | "!")) = after {
            self.out.blank(range);
        }
    }

    /// Blanks an item of a list and the comma after it.
    fn blank_item(&mut self, span: Span) {
        let source = self.out.source();
        self.out.blank(range(span));
        if let Some((comma, ",")) = words(source, span.end as usize..source.len()).next() {
            self.out.blank(comma);
        }
    }

    /// What is only there for the type checker goes as a whole. Says whether it went.
    fn drop_declaration(&mut self, declaration: &Declaration<'_>, whole: Span) -> bool {
        let gone = match declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => true,
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => {
                if !it.declare {
                    self.refuse(
                        it.span,
                        "an enum makes code, and types are only taken away here; write a constant object: \
                         `const Color = { Red: 'red' } as const`",
                    );
                }
                true
            }
            Declaration::TSNamespaceDeclaration(it) => {
                if !it.declare {
                    self.refuse(
                        it.span,
                        "a namespace makes code, and types are only taken away here; use a file of its own and `import`",
                    );
                }
                true
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                if it.import_kind != ImportOrExportKind::Type {
                    self.refuse(it.span, "`import … =` is not supported; write `import … from '…'`");
                }
                true
            }
        };
        if gone {
            self.out.blank_whole(range(whole));
        }
        gone
    }

    /// Statements without types are walked as they are. Says whether this one went.
    fn drop_statement(&mut self, statement: &Statement<'_>) -> bool {
        let whole = statement.span();
        let gone = match statement {
            Statement::ImportDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
            Statement::ExportNamedDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportFromDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportAllDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.body.is_none(),
                _ => false,
            },
            Statement::ExportDeclaration(it) => return self.drop_declaration(&it.declaration, whole),
            Statement::TSNamespaceExportDeclaration(_) => true,
            Statement::TSExportAssignment(it) => {
                self.refuse(it.span, "`export =` is not supported; write `export default`");
                true
            }
            other => {
                return other.as_declaration().is_some_and(|declaration| self.drop_declaration(declaration, whole));
            }
        };
        if gone {
            self.out.blank_whole(range(whole));
        }
        gone
    }

    fn has_semicolon(&self, span: Span) -> bool {
        self.out.source().get(range(span)).is_some_and(|text| text.ends_with(';'))
    }
}

impl<'a> Visit<'a> for Stripper<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if self.drop_statement(it) {
            return;
        }
        walk::walk_statement(self, it);
        let span = it.span();
        if !self.has_semicolon(span) {
            self.out.end_statement(span.end as usize);
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.out.blank(range(it.span));
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.out.blank(range(it.span));
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.out.blank(range(it.span));
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank_item(it.span);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(
                it.span,
                "a parameter property makes code, and types are only taken away here; declare the field and assign it in \
                 the constructor",
            );
        }
        if it.optional {
            self.blank_mark(it.pattern.span().end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        walk::walk_arrow_function_expression(self, it);
        // No line may end between the parameters and the arrow: the parenthesis moves behind the type.
        if let Some(result) = &it.return_type
            && self.out.source().get(range(result.span)).is_some_and(|text| text.contains('\n'))
        {
            let close = it.params.span.end as usize - 1;
            self.out.blank(close..close + 1);
            self.out.place(result.span.end as usize - 1, ')');
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let head = it.body.span.start;
        if it.r#abstract {
            self.blank_words(it.span.start, it.id.as_ref().map_or(head, |id| id.span.start), &["abstract"]);
        }
        if let Some(last) = it.implements.last() {
            let from =
                it.heritage.as_ref().map_or(it.id.as_ref().map_or(it.span.start, |id| id.span.end), |heritage| {
                    heritage.type_arguments.as_ref().map_or(heritage.expression.span().end, |types| types.span.end)
                });
            let word = words(self.out.source(), from as usize..head as usize).find(|(_, word)| *word == "implements");
            if let Some((found, _)) = word {
                self.out.blank(found.start..last.span.end as usize);
            }
        }
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let gone = match it {
            ClassElement::TSIndexSignature(_) => true,
            ClassElement::MethodDefinition(it) => {
                it.r#type == MethodDefinitionType::TSAbstractMethodDefinition || it.value.body.is_none()
            }
            ClassElement::PropertyDefinition(it) => {
                it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
            }
            ClassElement::StaticBlock(_) | ClassElement::AccessorProperty(_) => false,
        };
        if gone {
            self.out.blank_whole(range(it.span()));
        } else {
            walk::walk_class_element(self, it);
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.blank_words(it.span.start, it.key.span().start, &MODIFIERS);
        if it.optional {
            self.blank_mark(it.key.span().end);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.blank_words(it.span.start, it.key.span().start, &MODIFIERS);
        if it.optional || it.definite {
            self.blank_mark(it.key.span().end);
        }
        walk::walk_property_definition(self, it);
        if !self.has_semicolon(it.span) {
            self.out.end_statement(it.span.end as usize);
        }
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.refuse(it.span, "`accessor` fields are not supported; write a getter and a setter");
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "decorators are not supported; call the function yourself");
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            self.blank_item(it.span);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind == ImportOrExportKind::Type {
            self.blank_item(it.span);
        }
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_after(it.expression.span(), it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.out.blank(it.span.start as usize..it.expression.span().start as usize);
        self.visit_expression(&it.expression);
    }
}
