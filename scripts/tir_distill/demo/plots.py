"""Bar charts and number tables that a program can measure: plain colours, whole pixels, seven-segment figures.

The teacher's python cells rely on what is stated here and on nothing else: grid lines of one grey every
``GRID_STEP`` pixels above the base line, the value of the first grid line beside it, bars in pure colours; tables with
black rules two pixels wide and each number ``CELL_PAD`` pixels inside its cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from .figures import draw_number

COLOURS: dict[str, tuple[int, int, int]] = {
    "red": (204, 51, 51),
    "blue": (51, 85, 187),
    "green": (51, 153, 85),
    "orange": (238, 136, 34),
    "purple": (136, 68, 170),
    "teal": (34, 153, 170),
}
GRID = (221, 221, 221)
GRID_STEP = 40
BASE = 360
"""Row of the base line."""
CELL_PAD = 10


def draw_chart(title: str, bars: Sequence[tuple[str, int]], step: int) -> Image.Image:
    """Bars by (colour, value). ``step`` is the value of one grid step; it must divide GRID_STEP or be a multiple of it,
    so that each bar is a whole number of pixels high."""
    picture = Image.new("RGB", (600, 420), (255, 255, 255))
    pen = ImageDraw.Draw(picture)
    for line in range(1, 8):
        y = BASE - line * GRID_STEP
        pen.line((70, y, 580, y), fill=GRID)
    draw_number(pen, 10, BASE - GRID_STEP - 10, step)
    width = 510 // len(bars)
    for index, (colour, value) in enumerate(bars):
        left = 84 + index * width
        height = value * GRID_STEP // step
        pen.rectangle((left, BASE - height, left + width - 28, BASE - 1), fill=COLOURS[colour])
        pen.text((left, BASE + 8), colour, fill=(20, 20, 60), font=ImageFont.load_default(15))
    pen.line((70, BASE, 580, BASE), fill=(0, 0, 0), width=2)
    pen.text((70, 20), title, fill=(20, 20, 60), font=ImageFont.load_default(22))
    return picture


def draw_table(title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[int]]) -> Image.Image:
    """A table with names in its first column and whole numbers in the others."""
    row_height, name_width, cell_width = 44, 150, 130
    width = name_width + cell_width * len(columns) + 42
    height = 60 + row_height * (len(rows) + 1) + 22
    picture = Image.new("RGB", (width, height), (252, 250, 244))
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(17)
    pen.text((20, 14), title, fill=(20, 20, 60), font=ImageFont.load_default(20))
    left, top = 20, 60
    right, bottom = left + name_width + cell_width * len(columns), top + row_height * (len(rows) + 1)
    for index in range(len(rows) + 2):
        y = top + index * row_height
        pen.rectangle((left, y, right + 1, y + 1), fill=(0, 0, 0))
    for x in [left, *(left + name_width + index * cell_width for index in range(len(columns) + 1))]:
        pen.rectangle((x, top, x + 1, bottom + 1), fill=(0, 0, 0))
    for index, name in enumerate(columns):
        pen.text((left + name_width + index * cell_width + 12, top + 12), name, fill=(20, 20, 60), font=font)
    for row, name in enumerate(rows):
        y = top + (row + 1) * row_height
        pen.text((left + 12, y + 12), name, fill=(20, 20, 60), font=font)
        for column, value in enumerate(cells[row]):
            draw_number(pen, left + name_width + column * cell_width + 2 + CELL_PAD, y + 2 + CELL_PAD, value)
    return picture
