"""Seven-segment figures: numbers that people and programs can both read off a picture."""

from __future__ import annotations

from PIL import Image, ImageDraw

WIDTH, HEIGHT, STROKE, PITCH = 12, 20, 3, 17
"""Of one figure, in pixels; PITCH is the step from one figure to the next."""

SEGMENTS = {
    "a": (0, 0, 11, 2),
    "b": (9, 0, 11, 9),
    "c": (9, 10, 11, 19),
    "d": (0, 17, 11, 19),
    "e": (0, 10, 2, 19),
    "f": (0, 0, 2, 9),
    "g": (0, 9, 11, 11),
}
PROBES = {"a": (6, 1), "b": (10, 5), "c": (10, 14), "d": (6, 18), "e": (1, 14), "f": (1, 5), "g": (6, 10)}
"""A point inside each segment that no other segment touches."""

DIGITS = {
    "0": "abcdef",
    "1": "bc",
    "2": "abdeg",
    "3": "abcdg",
    "4": "bcfg",
    "5": "acdfg",
    "6": "acdefg",
    "7": "abc",
    "8": "abcdefg",
    "9": "abcdfg",
}
_BY_SEGMENTS = {segments: digit for digit, segments in DIGITS.items()}

PLATE_LEFT, PLATE_BELOW, PLATE_FIGURES = 14, 32, 4
"""A plate's first figure: distance from the left edge, and of its top from the bottom edge; most figures on it."""


def draw_number(draw: ImageDraw.ImageDraw, left: int, top: int, number: int, colour: object = (0, 0, 0)) -> None:
    """Write a whole number with its first figure's corner at (left, top)."""
    for position, digit in enumerate(str(number)):
        for segment in DIGITS[digit]:
            x0, y0, x1, y1 = SEGMENTS[segment]
            x = left + position * PITCH
            draw.rectangle((x + x0, top + y0, x + x1, top + y1), fill=colour)  # type: ignore[arg-type]


def read_number(picture: Image.Image, left: int, top: int, most: int = 9) -> int | None:
    """The number whose first figure's corner is at (left, top); None when what stands there is no number.

    ``most``: figures that there can be.
    """
    grey = picture if picture.mode == "L" else picture.convert("L")
    digits = ""
    while len(digits) < most and left + WIDTH <= grey.width and top >= 0 and top + HEIGHT <= grey.height:
        lit = ""
        for name, (dx, dy) in PROBES.items():
            value = grey.getpixel((left + dx, top + dy))
            if isinstance(value, int | float) and value < 110:
                lit += name
        if not lit:
            break
        if lit not in _BY_SEGMENTS:
            return None
        digits += _BY_SEGMENTS[lit]
        left += PITCH
    return int(digits) if digits else None


def draw_plate(picture: Image.Image, number: int) -> None:
    """A white plate with the number in the lower left corner."""
    draw = ImageDraw.Draw(picture)
    top = picture.height - PLATE_BELOW
    draw.rectangle(
        (PLATE_LEFT - 8, top - 6, PLATE_LEFT + PLATE_FIGURES * PITCH, top + HEIGHT + 5), fill=(255, 255, 255)
    )
    draw_number(draw, PLATE_LEFT, top, number)


def read_plate(picture: Image.Image) -> int | None:
    """The number on a picture's plate, or None when it has none."""
    grey = picture.convert("L")
    top = grey.height - PLATE_BELOW
    if top < 8 or grey.width < PLATE_LEFT + PLATE_FIGURES * PITCH:
        return None
    margin = [grey.getpixel((x, top - 4)) for x in range(PLATE_LEFT - 6, PLATE_LEFT + 3 * PITCH)]
    if any(isinstance(value, int | float) and value < 225 for value in margin):
        return None
    return read_number(grey, PLATE_LEFT, top, PLATE_FIGURES)
