"""Python cells that truly read the demo's charts and tables from their pixels (see ``plots``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .figures import DIGITS, PITCH, PROBES
from .plots import CELL_PAD, COLOURS, GRID, GRID_STEP

_READER = f"""
PROBES = {PROBES!r}
FIGURES = { ({segments: digit for digit, segments in DIGITS.items()})!r}

def read_number(grey, left, top):
    digits = ""
    while left + 12 <= grey.shape[1]:
        lit = "".join(name for name, (dx, dy) in PROBES.items() if grey[top + dy, left + dx] < 110)
        if lit not in FIGURES:
            break
        digits += FIGURES[lit]
        left += {PITCH}
    return int(digits)
"""

_CHART = """from PIL import Image
import numpy as np

pixels = np.asarray(Image.open(IMAGE_PATH).convert("RGB")).astype(int)
grey = pixels.mean(axis=2)
__READER__
grid = np.flatnonzero((pixels[:, 574:579] == __GRID__).all(axis=(1, 2)))
first_line = int(grid.max())
step = read_number(grey, 10, first_line - 10)
colours = __COLOURS__
values = {}
for name, colour in colours.items():
    rows = np.flatnonzero((pixels == colour).all(axis=2).any(axis=1))
    if len(rows):
        values[name] = len(rows) * step / __GRID_STEP__
values = {name: int(value) if value == int(value) else value for name, value in values.items()}
"""

_TABLE = """from PIL import Image
import numpy as np

pixels = np.asarray(Image.open(IMAGE_PATH).convert("RGB")).astype(int)
grey = pixels.mean(axis=2)
__READER__
black = (pixels == 0).all(axis=2)
def starts(flags):
    return [int(i) for i in np.flatnonzero(flags) if i == 0 or not flags[i - 1]]
lines = starts(black.mean(axis=1) > 0.7)
rules = starts(black[lines[0]:lines[-1]].mean(axis=0) > 0.9)
cells = [[read_number(grey, x + 2 + __PAD__, y + 2 + __PAD__) for x in rules[1:-1]] for y in lines[1:-1]]
"""


def read_chart() -> str:
    """Code that leaves the bars' values in ``values`` (colour to number). Prints nothing."""
    code = _CHART.replace("__READER__", _READER.strip()).replace("__GRID__", str(GRID))
    return code.replace("__COLOURS__", repr(COLOURS)).replace("__GRID_STEP__", str(GRID_STEP))


def read_table() -> str:
    """Code that leaves the numbers in ``cells`` (rows of columns). Prints nothing."""
    return _TABLE.replace("__READER__", _READER.strip()).replace("__PAD__", str(CELL_PAD))


def compute_chart(task: Mapping[str, Any]) -> str:
    """Code that prints ``result: …`` from ``values``."""
    of = list(task.get("of", ()))
    match task["op"]:
        case "difference":
            code = f"result = values[{of[0]!r}] - values[{of[1]!r}]"
        case "total":
            code = f"result = sum(values[name] for name in {of!r})" if of else "result = sum(values.values())"
        case "highest":
            code = "result = max(values, key=values.get)"
        case "lowest":
            code = "result = min(values, key=values.get)"
        case "value":
            code = f"result = values[{of[0]!r}]"
        case "second":
            code = "result = sorted(values.values())[-2]"
        case "mean":
            code = (
                "result = sum(values.values()) / len(values)\nresult = int(result) if result == int(result) else result"
            )
        case "range":
            code = "result = max(values.values()) - min(values.values())"
        case "pair":
            code = f'result = ", ".join(str(values[name]) for name in {of!r})'
        case "excess":
            code = f"result = values[{of[0]!r}] + values[{of[1]!r}] - values[{of[2]!r}]"
        case other:
            raise KeyError(other)
    return code + '\nprint("result:", result)'


def compute_table(task: Mapping[str, Any]) -> str:
    """Code that prints ``result: …`` from ``cells``."""
    column = task.get("column", 0)
    rows = list(task.get("rows", ()))
    match task["op"]:
        case "total":
            chosen = f"[cells[i][{column}] for i in {rows!r}]" if rows else f"[row[{column}] for row in cells]"
            code = f"result = sum({chosen})"
            if task.get("commas"):
                code += '\nresult = f"{result:,}"'
        case "difference":
            code = f"result = cells[{rows[0]}][{column}] - cells[{rows[1]}][{column}]"
        case "product":
            code = f"result = cells[{task['row']}][0] * cells[{task['row']}][1]"
        case "growth":
            code = f"result = cells[{task['row']}][1] - cells[{task['row']}][0]"
        case "range":
            code = f"column = [row[{column}] for row in cells]\nresult = max(column) - min(column)"
        case "mean":
            code = f"column = [row[{column}] for row in cells]\nresult = sum(column) / len(column)"
            code += "\nresult = int(result) if result == int(result) else result"
        case "fraction":
            code = "from fractions import Fraction\n"
            code += f"column = [row[{column}] for row in cells]\nshare = Fraction(column[{task['row']}], sum(column))"
            code += '\nresult = f"{share.numerator}/{share.denominator}"'
        case other:
            raise KeyError(other)
    return code + '\nprint("result:", result)'


LOOK = """from PIL import Image
import numpy as np

picture = Image.open(IMAGE_PATH).convert("RGB")
pixels = np.asarray(picture)
print("width", picture.width, "height", picture.height, "mean brightness", round(float(pixels.mean()), 2))
"""
"""For real pictures, which this teacher cannot read: facts about the picture that only a look at it can tell."""

ENLARGE = """from PIL import Image

picture = Image.open(IMAGE_PATH).convert("RGB")
part = picture.crop((60, 60, picture.width, picture.height - 20))
part = part.resize((part.width * 2, part.height * 2))
part.save("enlarged.png")
print("enlarged part:", part.width, "by", part.height)
"""
"""Sends a picture back."""

PICTURE_CODE = """from PIL import Image, ImageDraw

canvas = Image.new("RGB", (64, 64), "white")
ImageDraw.Draw(canvas).ellipse((8, 8, 56, 56), outline="black")
rotated = canvas.rotate(45)
print("canvas", rotated.size)
"""
"""Picture code where there is no picture."""
