"""Words in a cell's code that are printed only if the cell finds it so: ``print('red' if r > g else 'blue')``.

Such a word in the output is news, although the code holds it; a label that is printed in any case is none.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable

from .mentions import all_mentions, mentions


def chosen_words(code: str, output: str) -> set[str]:
    """Those of the output's mentions that the code chose among others, or printed under a condition."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    printed = mentions(output)
    found: set[str] = set()
    listed: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.IfExp):
            found |= _texts([node.body, node.orelse])
        elif isinstance(node, ast.If):
            found |= _texts([*node.body, *node.orelse])
        elif isinstance(node, ast.Match):
            found |= _texts(part for case in node.cases for part in case.body)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            listed |= _texts(node.elts)
        elif isinstance(node, ast.Dict):
            listed |= _texts(node.values)
    if not listed <= printed:  # a list printed as a whole chooses nothing
        found |= listed
    return found & printed


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    return all_mentions(
        part.value
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )
