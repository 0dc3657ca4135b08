"""What a Python cell defines and what it takes from earlier cells, read from its syntax tree. Nothing is run."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from dataclasses import dataclass

PRELUDE = re.compile(r"^(?:IMAGE_PATH|input_image|image_\d+)$")
"""Names that every cell has from us (seed section 10.1)."""
_FILE = re.compile(
    r"^[\w./ -]{1,100}\.(?:png|jpe?g|webp|bmp|gif|tiff?|csv|tsv|txt|json|npy|npz|pkl|parquet)$", re.IGNORECASE
)
_GIVEN_FILE = re.compile(r"^(?:.*/)?(?:input_image\.jpg|image_\d+\.png)$")
_ASSIGNED = re.compile(r"^\s*(\w+)\s*=(?!=)", re.MULTILINE)
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class CellNames:
    """Names and files of one cell."""

    defined: frozenset[str]
    needed: frozenset[str]
    """Used before the cell itself defines them; builtins and our own names left out."""
    files: frozenset[str]
    """File names that stand in the cell, ours left out."""
    imported: frozenset[str] = frozenset()
    """Those of ``defined`` that are imports: doing it twice changes nothing. ``*`` is among them for a star import."""
    changed: frozenset[str] = frozenset()
    """Names whose object the cell may have changed in place: ``d[k] = v``, ``im.x = 1``, ``rows.append(3)``."""
    ran: bool = True
    """False for code that does not parse: it defined nothing."""


class _Reader(ast.NodeVisitor):
    """Walks in the order of evaluation. A function's body counts as used where the function stands."""

    def __init__(self) -> None:
        self.defined: set[str] = set()
        self.needed: set[str] = set()
        self.files: set[str] = set()
        self.imported: set[str] = set()
        self.changed: set[str] = set()

    def _change(self, node: ast.AST) -> None:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name):
            self.changed.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._change(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._change(node)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):  # a method called for its effect
            self._change(call.func)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.defined.add(node.id)
        elif node.id not in self.defined:
            self.needed.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _FILE.match(node.value) and not _GIVEN_FILE.match(node.value):
            self.files.add(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._each(node.value, *node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._each(node.value, node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.defined:
            self.needed.add(node.target.id)
        self._each(node.value, node.target)

    def visit_For(self, node: ast.For) -> None:
        self._each(node.iter, node.target, *node.body, *node.orelse)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._each(node.value, node.target)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._each(*node.generators, node.elt)

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._each(*node.generators, node.key, node.value)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._each(node.iter, node.target, *node.ifs)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        self.defined |= names
        self.imported |= names

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._each(*node.decorator_list, *node.args.defaults, *node.args.kw_defaults)
        self.defined.add(node.name)
        self._body(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._each(*node.args.defaults, *node.args.kw_defaults)
        self._body(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._each(*node.decorator_list, *node.bases, *node.keywords, *node.body)
        self.defined.add(node.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.defined.add(node.name)
        self._each(node.type, *node.body)

    def _body(self, arguments: ast.arguments, body: list[ast.stmt] | list[ast.expr]) -> None:
        inner = _Reader()
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        inner.defined = set(self.defined) | {argument.arg for argument in every if argument is not None}
        inner._each(*body)
        self.needed |= inner.needed - self.defined
        self.files |= inner.files

    def _each(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def cell_names(code: str) -> CellNames:
    """Names of one cell. Code that does not parse has not run: its plain assignments are taken, to be careful."""
    reader = _Reader()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in model-written strings
            reader.visit(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return CellNames(frozenset(_ASSIGNED.findall(code)), frozenset(), frozenset(), ran=False)
    needed = {name for name in reader.needed if name not in _BUILTINS and not PRELUDE.match(name)}
    changed = {name for name in reader.changed if not PRELUDE.match(name)} - reader.imported
    return CellNames(
        frozenset(reader.defined),
        frozenset(needed),
        frozenset(reader.files),
        frozenset(reader.imported),
        frozenset(changed),
    )
