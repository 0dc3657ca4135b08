"""What a Python cell defines, changes, reads and writes, read from its syntax tree. Nothing is run.

Errors are all on one side: what may have been changed counts as changed. See ``cell_calls`` for calls that are known to
change nothing, and ``cell_chain`` for what follows.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from .cell_calls import CHANGING_WORDS, DYNAMIC, UNKNOWN, Effect, builtin_effect, method_effect, module_effect
from .cell_files import FILE, GIVEN, file_call, file_name, known_as, place_of

PRELUDE = re.compile(r"^(?:IMAGE_PATH|input_image|image_\d+)$")
"""Names that every cell has from us, anew for each cell (seed section 10.1)."""
_ASSIGNED = re.compile(r"^\s*(\w+)\s*=(?!=)", re.MULTILINE)
_BUILTINS = frozenset(dir(builtins))
_PLAIN_ATTRIBUTES = frozenset({"size", "width", "height", "shape", "mode", "format", "dtype", "ndim", "name"})
"""Attributes whose value cannot be changed in place."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What code takes from and does to things that are no objects of its own."""

    state: frozenset[str] = frozenset()
    """Parts of modules, dotted, whose state it may change: ``numpy.random``, ``os.environ``."""
    modules: frozenset[str] = frozenset()
    """Parts of modules that it uses."""
    read: frozenset[str] = frozenset()
    """Files, by the last part of their names, that must be there before; files that the code only names among them."""
    written: frozenset[str] = frozenset()
    """Files that it may write or take away; files that the code only names among them."""
    reads_any: bool = False
    """It reads files whose names only show when it runs."""
    writes_any: bool = False
    dynamic: bool = False
    """It may use or define names that do not stand in its code."""
    ours: bool = False
    """It uses the question's pictures."""


@dataclass(frozen=True, slots=True)
class Function:
    """What calling a function of the cells' own may do, and the names around it that it uses."""

    changed: frozenset[str]
    arguments: bool
    """It may change what it is given."""
    reads: frozenset[str]
    outside: tuple[Outside, ...] = ()
    direct: bool = True
    """False for a thing that only holds functions, or may: a list of them, an object made with one."""


@dataclass(frozen=True, slots=True)
class CellNames:
    """Names and files of one cell. Our own names and builtins are left out."""

    defined: frozenset[str]
    needed: frozenset[str] = frozenset()
    """Used before the cell itself defines them."""
    imported: frozenset[str] = frozenset()
    """Those of ``defined`` that are imports: doing it twice changes nothing. ``*`` is among them for a star import."""
    changed: frozenset[str] = frozenset()
    """Names whose object the cell may have changed in place."""
    links: tuple[frozenset[str], ...] = ()
    """Names that may stand for one object, or for one inside the other: ``d = ImageDraw.Draw(im)``."""
    outside: Outside = Outside()
    imports: Mapping[str, str] = field(default_factory=dict)
    """Names of modules after the cell, dotted: ``np`` -> ``numpy``."""
    functions: Mapping[str, Function] = field(default_factory=dict)
    """Functions known after the cell."""
    ran: bool = True
    """False for code that does not parse: it defined nothing."""


class _Reader(ast.NodeVisitor):
    """Walks in the order of evaluation. A function's body counts as used where the function stands."""

    def __init__(self, imports: Mapping[str, str], functions: Mapping[str, Function]) -> None:
        self.imports = dict(imports)
        self.functions = dict(functions)
        self.defined: set[str] = set()
        self.shared: set[str] = set()
        """Declared global or nonlocal."""
        self.needed: set[str] = set()
        self.imported: set[str] = set()
        self.changed: set[str] = set()
        self.links: list[frozenset[str]] = []
        self.state: set[str] = set()
        self.modules: set[str] = set()
        self.strings: dict[str, str] = {}
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.named: set[str] = set()
        self.reads_any = self.writes_any = self.dynamic = self.ours = False
        self._statement: ast.AST | None = None
        self._places: set[int] = set()

    # names

    def _define(self, name: str) -> None:
        self.defined.add(name)
        self.imports.pop(name, None)
        self.functions.pop(name, None)
        self.strings.pop(name, None)
        if name in self.shared:
            self.changed.add(name)

    def _use(self, name: str) -> None:
        if name not in self.defined:
            self.needed.add(name)
        self.ours = self.ours or bool(PRELUDE.match(name))
        if name in self.functions:  # it may be called, and then does and reads what its body says
            self.changed |= self.functions[name].changed
            self.needed |= self.functions[name].reads - self.defined
            for part in self.functions[name].outside:
                self._go_outside(part)
        if name in DYNAMIC:
            self.dynamic = True

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._define(node.id)
            return
        self._use(node.id)
        if node.id in self.imports:
            self.modules.add(self.imports[node.id])
        if node.id in self.strings and id(node) not in self._places:
            self._mention(self.strings[node.id])

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.shared |= set(node.names)

    visit_Nonlocal = visit_Global

    def _path(self, node: ast.AST) -> str:
        """Dotted name of something in an imported module, else empty."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.imports:
            return ""
        path = ".".join([self.imports[node.id], *reversed(parts)])
        return path.replace("os.getenv", "os.environ.get").replace("os.putenv", "os.environ.update")

    def _roots(self, node: ast.AST | None) -> set[str]:
        """Names whose objects the value may share with."""
        if node is None or self._path(node):
            return set()
        if isinstance(node, ast.Name):
            return {node.id}
        if isinstance(node, ast.Attribute):
            return set() if node.attr in _PLAIN_ATTRIBUTES else self._roots(node.value)
        if isinstance(node, (ast.Subscript, ast.Starred, ast.Await, ast.NamedExpr)):
            return self._roots(node.value)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return self._union(*node.elts)
        if isinstance(node, ast.Dict):
            return self._union(*node.values)
        if isinstance(node, ast.IfExp):
            return self._union(node.body, node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._union(*node.values)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._union(node.elt, *(part.iter for part in node.generators))
        if isinstance(node, ast.DictComp):
            return self._union(node.value, *(part.iter for part in node.generators))
        if isinstance(node, ast.Call):
            return self._shared_with(node)
        return set()

    def _union(self, *nodes: ast.AST | None) -> set[str]:
        found: set[str] = set()
        for node in nodes:
            found |= self._roots(node)
        return found

    def _shared_with(self, node: ast.Call) -> set[str]:
        effect = self._effect(node)
        if effect.fresh:
            return set()
        found = self._union(*node.args, *(word.value for word in node.keywords))
        if isinstance(node.func, ast.Name):
            known = self.functions.get(node.func.id)
            return found | (known.reads | known.changed if known else set())
        return found | self._roots(node.func)

    def _effect(self, node: ast.Call) -> Effect:
        func = node.func
        path = self._path(func)
        if any(word.arg in CHANGING_WORDS for word in node.keywords):
            return UNKNOWN
        if path:
            return module_effect(path)
        if isinstance(func, ast.Name):
            known = self.functions.get(func.id)
            if known is not None:
                return Effect(not known.direct, known.arguments, known.arguments)
            return (builtin_effect(func.id) if func.id not in self.defined else None) or UNKNOWN
        if isinstance(func, ast.Attribute):
            return method_effect(func.attr, statement=node is self._statement)
        return UNKNOWN

    def _bind(self, target: ast.AST | None, value: ast.AST | None) -> None:
        names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)} if target is not None else set()
        shared = self._roots(value)
        if names and shared:
            self.links.append(frozenset(names | shared))

    # changes

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.changed |= self._roots(node.value)
            if path:
                self.state.add(path.rpartition(".")[0])
        if not path:
            self.generic_visit(node)
            return
        self.modules.add(path)
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            self._use(root.id)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.changed |= self._roots(node.value)
            path = self._path(node.value)
            if path:
                self.state.add("matplotlib" if "rcParams" in path else path)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        self._statement = node.value.value if isinstance(node.value, ast.Await) else node.value
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        func, effect = node.func, self._effect(node)
        path = self._path(func)
        self._files(node, path)
        given = [*node.args, *(word.value for word in node.keywords)]
        if effect.receiver:
            self.changed |= self._roots(func.value if isinstance(func, ast.Attribute) else func)
        for place, value in enumerate(given):
            if effect.arguments if place == 0 else effect.rest:
                self.changed |= self._roots(value) - self.strings.keys()
        if effect.state:
            self.state.add(effect.state)
        if effect.keeps and isinstance(func, ast.Attribute):
            self._bind(func.value, ast.Tuple(elts=given, ctx=ast.Load()))
        if path.startswith(("importlib.", "builtins.", "sys.modules")):
            self.dynamic = True
        self.generic_visit(node)

    # files

    def _files(self, node: ast.Call, path: str) -> None:
        kind = file_call(node, path)
        if not kind:
            return
        place = place_of(node, path)
        name = file_name(place, self.strings)
        if place is not None and name is not None:
            self._places |= {id(part) for part in ast.walk(place)}
        if kind == "write":
            if name is None:
                self.writes_any = True
            else:
                self.written.add(name)
        elif name is None:
            self.reads_any = True
        elif name not in self.written:
            self.read.add(name)

    def _mention(self, text: str) -> None:
        if FILE.match(text) and (name := known_as(text)) and name not in self.written:
            self.named.add(name)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and id(node) not in self._places:
            self._mention(node.value)

    # binding, in the order of evaluation

    def visit_Assign(self, node: ast.Assign) -> None:
        text = node.value.value if isinstance(node.value, ast.Constant) else None
        only = node.targets[0] if len(node.targets) == 1 else None
        if isinstance(only, ast.Name) and isinstance(text, str):
            self._define(only.id)
            self.strings[only.id] = text
            return
        for target in node.targets:
            self._bind(target, node.value)
        held = [self.functions[name] for name in sorted(self._roots(node.value)) if name in self.functions]
        self._each(node.value, *node.targets)
        if held:
            self._hold(node.targets, held, direct=isinstance(node.value, ast.Name))
        if isinstance(only, ast.Name) and isinstance(node.value, ast.Lambda):
            self.functions[only.id] = self._body(node.value.args, [node.value.body])

    def _hold(self, targets: list[ast.expr], held: list[Function], *, direct: bool) -> None:
        """Names by which functions may be called from now on."""
        function = Function(
            frozenset[str]().union(*(known.changed for known in held)),
            arguments=not direct or held[0].arguments,
            reads=frozenset[str]().union(*(known.reads for known in held)),
            outside=tuple(part for known in held for part in known.outside),
            direct=direct and held[0].direct,
        )
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    self.functions[part.id] = function

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._bind(node.target, node.value)
        self._each(node.value, node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._use(node.target.id)
            self.changed.add(node.target.id)
        self._bind(node.target, node.value)
        self._each(node.value, node.target)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._bind(node.target, node.iter)
        self._each(node.iter, node.target, *node.body, *node.orelse)

    visit_AsyncFor = visit_For

    def visit_withitem(self, node: ast.withitem) -> None:
        self._bind(node.optional_vars, node.context_expr)
        self._each(node.context_expr, node.optional_vars)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._bind(node.target, node.value)
        self._each(node.value, node.target)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._each(*node.generators, node.elt)

    visit_SetComp = visit_ListComp
    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._each(*node.generators, node.key, node.value)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._bind(node.target, node.iter)
        self._each(node.iter, node.target, *node.ifs)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.split(".")[0]
            self._import((alias.asname or alias.name).split(".")[0], whole)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self._import(alias.asname or alias.name, f"{node.module or ''}.{alias.name}")

    def _import(self, name: str, whole: str) -> None:
        self._define(name)
        self.imported.add(name)
        self.imports[name] = whole

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._each(*node.decorator_list, *node.args.defaults, *node.args.kw_defaults)
        self._define(node.name)
        self.functions[node.name] = Function(frozenset(), arguments=False, reads=frozenset())  # it may call itself
        function = self.functions[node.name] = self._body(node.args, node.body)
        if function.changed:
            self.links.append(frozenset({node.name, *function.changed}))  # for whatever calls it by another name

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._each(*node.args.defaults, *node.args.kw_defaults)
        function = self._body(node.args, [node.body])
        self.changed |= function.changed
        for part in function.outside:
            self._go_outside(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._each(*node.decorator_list, *node.bases, *node.keywords)
        around = self.functions
        self.functions = dict(around)
        self._each(*node.body)
        methods = [known for name, known in self.functions.items() if around.get(name) is not known]
        self.functions = around
        self._define(node.name)
        self.functions[node.name] = Function(
            frozenset[str]().union(*(known.changed for known in methods)),
            arguments=True,
            reads=frozenset[str]().union(*(known.reads for known in methods)),
            outside=tuple(part for known in methods for part in known.outside),
        )

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._define(node.name)
        self._each(node.type, *node.body)

    def _body(self, arguments: ast.arguments, body: list[ast.stmt] | list[ast.expr]) -> Function:
        inner = _Reader(self.imports, self.functions)
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        given = {argument.arg for argument in every if argument is not None}
        inner.strings = dict(self.strings)
        for name in given:
            inner._define(name)
        inner._each(*body)
        self.needed |= inner.needed - self.defined
        outside = inner.outside()  # what it does there, it does when it is called
        changed = connected(inner.changed, inner.links)
        local = inner.defined - inner.shared
        return Function(frozenset(changed - local), bool(changed & given), frozenset(inner.needed - local), (outside,))

    def outside(self) -> Outside:
        return Outside(
            state=frozenset(self.state),
            modules=frozenset(self.modules),
            read=frozenset(self.read | self.named),
            written=frozenset(self.written | (self.named - self.read - {GIVEN})),
            reads_any=self.reads_any,
            writes_any=self.writes_any,
            dynamic=self.dynamic,
            ours=self.ours or GIVEN in self.read | self.named,
        )

    def _go_outside(self, done: Outside) -> None:
        self.state |= done.state
        self.modules |= done.modules
        self.read |= done.read - self.written
        self.written |= done.written
        self.reads_any |= done.reads_any
        self.writes_any |= done.writes_any
        self.dynamic |= done.dynamic
        self.ours |= done.ours

    def _each(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def connected(names: set[str] | frozenset[str], links: list[frozenset[str]]) -> set[str]:
    """The names, and all that may stand for the same objects."""
    found = set(names)
    pending = list(links)
    while True:
        rest = [link for link in pending if found.isdisjoint(link)]
        if len(rest) == len(pending):
            return found
        found = found.union(*pending) if not rest else found.union(*(x for x in pending if not found.isdisjoint(x)))
        pending = rest


def cell_names(
    code: str, imports: Mapping[str, str] | None = None, functions: Mapping[str, Function] | None = None
) -> CellNames:
    """Names of one cell. Code that does not parse has not run: its plain assignments are taken, to be careful.

    ``imports`` and ``functions``: what earlier cells left (``CellNames.imports``, ``CellNames.functions``).
    """
    reader = _Reader(imports or {}, functions or {})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in model-written strings
            reader.visit(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return CellNames(
            frozenset(_ASSIGNED.findall(code)), imports=imports or {}, functions=functions or {}, ran=False
        )

    def plain(names: set[str]) -> frozenset[str]:
        return frozenset(name for name in names if name not in _BUILTINS and not PRELUDE.match(name))

    modules = reader.imports.keys()
    return CellNames(
        defined=frozenset(reader.defined),
        needed=plain(reader.needed),
        imported=frozenset(reader.imported),
        changed=plain(reader.changed) - modules,
        links=tuple(kept for link in reader.links if len(kept := plain(set(link)) - modules) > 1),
        outside=reader.outside(),
        imports=reader.imports,
        functions=reader.functions,
    )
