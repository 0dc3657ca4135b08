"""Little landscapes: one drawn thing on a ground of its own, with a numbered plate."""

from __future__ import annotations

import random
from collections.abc import Callable

from PIL import Image, ImageDraw

from .figures import draw_plate
from .inventory import dice

SIZE = (480, 360)
Pen = ImageDraw.ImageDraw
Colour = tuple[int, int, int]

STONE: Colour = (205, 198, 185)
DARK: Colour = (58, 52, 60)
ROOF: Colour = (150, 62, 46)
WATER: Colour = (62, 108, 140)
GREEN: Colour = (70, 122, 70)
YELLOW: Colour = (235, 196, 60)


def draw_scene(name: str, plate: int, seed: int = 0) -> Image.Image:
    """The picture of a thing. Weather, light and place in the frame follow from the seed, the thing from its name."""
    rng = random.Random(dice("scene", name, plate, seed))
    sky = (rng.randint(120, 240), rng.randint(150, 235), rng.randint(170, 250))
    picture = Image.new("RGB", SIZE, sky)
    pen = ImageDraw.Draw(picture)
    _backdrop(pen, rng)
    centre = rng.randint(170, 330)
    _THINGS[name](pen, centre, rng)
    _foreground(pen, rng)
    draw_plate(picture, plate)
    return picture


def _backdrop(pen: Pen, rng: random.Random) -> None:
    """Sun or moon, clouds, hills: the large shapes that tell two pictures apart at a glance."""
    x, y, r = rng.randint(30, 450), rng.randint(20, 110), rng.randint(18, 55)
    pen.ellipse((x - r, y - r, x + r, y + r), fill=rng.choice([(255, 240, 170), (250, 250, 250), (90, 90, 120)]))
    for _ in range(rng.randint(1, 5)):
        x, y = rng.randint(0, 420), rng.randint(10, 130)
        w, h = rng.randint(50, 170), rng.randint(12, 40)
        pen.ellipse((x, y, x + w, y + h), fill=(rng.randint(200, 255),) * 3)
    horizon = rng.randint(190, 270)
    points = [(0, 360), (0, horizon)]
    for x in range(0, 481, 60):
        points.append((x, horizon - rng.randint(0, 110)))
    pen.polygon([*points, (480, 360)], fill=rng.choice([(96, 120, 96), (120, 110, 90), (84, 96, 120), (150, 140, 110)]))
    pen.rectangle((0, horizon + 30, 480, 360), fill=rng.choice([WATER, GREEN, (170, 160, 120), (110, 100, 90)]))


def _foreground(pen: Pen, rng: random.Random) -> None:
    for _ in range(rng.randint(2, 6)):
        x, y, r = rng.randint(110, 470), rng.randint(300, 352), rng.randint(4, 22)
        pen.ellipse((x - r, y - r, x + r, y + r // 2), fill=rng.choice([DARK, GREEN, STONE, ROOF]))


def _tower(pen: Pen, x: int, top: int, half: int, fill: Colour) -> None:
    pen.polygon([(x - half, 320), (x - half * 2 // 3, top), (x + half * 2 // 3, top), (x + half, 320)], fill=fill)


def _lighthouse(pen: Pen, x: int, rng: random.Random) -> None:
    _tower(pen, x, 90, 34, (240, 240, 240))
    for y in (130, 190, 250):
        pen.rectangle((x - 26, y, x + 26, y + 24), fill=ROOF)
    pen.rectangle((x - 18, 62, x + 18, 90), fill=YELLOW)
    pen.polygon([(x - 24, 62), (x, 38), (x + 24, 62)], fill=DARK)


def _bridge(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 190, 480, 214), fill=STONE)
    for centre in (120, 300):
        pen.pieslice((centre - 90, 200, centre + 90, 380), 180, 360, fill=WATER, outline=STONE, width=14)


def _castle(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((x - 110, 190, x + 110, 320), fill=STONE)
    for side in (x - 130, x + 90):
        pen.rectangle((side, 120, side + 44, 320), fill=(170, 160, 150))
        pen.polygon([(side - 6, 120), (side + 22, 76), (side + 50, 120)], fill=ROOF)
    pen.pieslice((x - 26, 250, x + 26, 390), 180, 360, fill=DARK)


def _windmill(pen: Pen, x: int, rng: random.Random) -> None:
    _tower(pen, x, 150, 50, (120, 92, 70))
    for dx, dy in ((100, 60), (-60, 100), (-100, -60), (60, -100)):
        pen.line((x, 140, x + dx, 140 + dy), fill=(245, 240, 225), width=16)


def _temple(pen: Pen, x: int, rng: random.Random) -> None:
    for step in range(5):
        half, top = 170 - step * 30, 290 - step * 36
        pen.rectangle((x - half, top, x + half, top + 36), fill=(190 - step * 8, 96 + step * 6, 70))
    pen.rectangle((x - 22, 116, x + 22, 146), fill=DARK)


def _tram(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((x - 150, 170, x + 150, 290), fill=YELLOW)
    for left in range(x - 130, x + 120, 52):
        pen.rectangle((left, 186, left + 36, 228), fill=(180, 220, 235))
    for wheel in (x - 90, x + 90):
        pen.ellipse((wheel - 22, 276, wheel + 22, 320), fill=DARK)
    pen.line((x, 170, x + 60, 90, x + 120, 84), fill=DARK, width=4)


def _ferry(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 250, 480, 360), fill=WATER)
    pen.polygon([(x - 160, 230), (x + 160, 230), (x + 120, 290), (x - 120, 290)], fill=(30, 40, 70))
    pen.rectangle((x - 100, 184, x + 100, 230), fill=(240, 240, 240))
    pen.rectangle((x - 16, 96, x + 18, 184), fill=ROOF)


def _bell_tower(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((x - 46, 110, x + 46, 320), fill=(176, 120, 90))
    pen.polygon([(x - 54, 110), (x, 30), (x + 54, 110)], fill=(70, 90, 90))
    pen.pieslice((x - 24, 130, x + 24, 190), 180, 360, fill=YELLOW)
    pen.rectangle((x - 150, 250, x - 70, 320), fill=STONE)


def _statue(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((x - 60, 260, x + 60, 330), fill=STONE)
    pen.polygon([(x - 36, 260), (x - 14, 150), (x + 14, 150), (x + 36, 260)], fill=(92, 74, 40))
    pen.ellipse((x - 16, 112, x + 16, 150), fill=(92, 74, 40))
    pen.line((x + 10, 180, x + 62, 130), fill=(150, 120, 50), width=12)


def _observatory(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 0, 480, 190), fill=(24, 28, 60))
    for _ in range(40):
        star, height = rng.randint(0, 479), rng.randint(0, 180)
        pen.rectangle((star, height, star + 2, height + 2), fill=(250, 250, 220))
    pen.rectangle((x - 90, 220, x + 90, 320), fill=STONE)
    pen.pieslice((x - 96, 130, x + 96, 310), 180, 360, fill=(184, 110, 60))
    pen.rectangle((x - 8, 130, x + 8, 220), fill=DARK)


def _pavilion(pen: Pen, x: int, rng: random.Random) -> None:
    pen.pieslice((x - 150, 110, x + 150, 430), 180, 360, fill=(190, 226, 226))
    for angle in range(190, 351, 20):
        pen.pieslice((x - 150, 110, x + 150, 430), angle, angle + 2, fill=(90, 130, 130))
    pen.rectangle((x - 160, 268, x + 160, 320), fill=(150, 200, 200))


def _water_tower(pen: Pen, x: int, rng: random.Random) -> None:
    for leg in (-60, -20, 20, 60):
        pen.line((x + leg, 190, x + leg * 4 // 3, 326), fill=DARK, width=10)
    pen.rectangle((x - 90, 100, x + 90, 196), fill=(150, 76, 60))
    pen.polygon([(x - 100, 100), (x, 56), (x + 100, 100)], fill=(60, 70, 80))


def _folly(pen: Pen, x: int, rng: random.Random) -> None:
    _tower(pen, x, 60, 60, (140, 140, 120))
    pen.rectangle((x - 18, 250, x + 18, 320), fill=DARK)
    for notch in range(x - 40, x + 40, 20):
        pen.rectangle((notch, 48, notch + 10, 62), fill=(140, 140, 120))


def _barrier(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 210, 480, 360), fill=WATER)
    for left in range(10, 470, 78):
        pen.rectangle((left, 150, left + 22, 300), fill=STONE)
        pen.rectangle((left + 22, 190, left + 78, 270), fill=(120, 130, 140))


def _regatta(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 180, 480, 360), fill=(46, 90, 130))
    for boat in (x - 130, x, x + 110):
        low = rng.randint(230, 290)
        pen.polygon([(boat, low - 150), (boat, low), (boat + 60, low)], fill=(250, 250, 245))
        pen.polygon(
            [(boat - 30, low + 6), (boat + 70, low + 6), (boat + 50, low + 26), (boat - 10, low + 26)], fill=ROOF
        )


def _kites(pen: Pen, x: int, rng: random.Random) -> None:
    for _ in range(9):
        left, top = rng.randint(30, 430), rng.randint(20, 200)
        colour = rng.choice([ROOF, YELLOW, (60, 90, 170), (150, 60, 150)])
        pen.polygon([(left, top), (left + 30, top + 34), (left, top + 74), (left - 30, top + 34)], fill=colour)
        pen.line((left, top + 74, x, 320), fill=DARK, width=1)


def _library(pen: Pen, x: int, rng: random.Random) -> None:
    for leg in range(x - 140, x + 141, 28):
        pen.rectangle((leg, 230, leg + 8, 330), fill=(110, 80, 50))
    pen.rectangle((x - 160, 140, x + 160, 232), fill=(214, 190, 150))
    for window in range(x - 140, x + 120, 44):
        pen.rectangle((window, 160, window + 24, 214), fill=(70, 90, 110))


def _chess(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 0, 480, 360), fill=(92, 66, 48))
    for row in range(8):
        for column in range(8):
            left, top = x - 140 + column * 35, 30 + row * 35
            pen.rectangle((left, top, left + 34, top + 34), fill=STONE if (row + column) % 2 else DARK)
    for _ in range(12):
        left, top = x - 140 + rng.randint(0, 7) * 35, 30 + rng.randint(0, 7) * 35
        pen.ellipse((left + 7, top + 7, left + 27, top + 27), fill=rng.choice([ROOF, (250, 250, 240)]))


def _comet(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 0, 480, 270), fill=(12, 14, 34))
    pen.polygon([(x, 120), (x + 16, 136), (x - 170, 40)], fill=(200, 220, 250))
    pen.ellipse((x - 16, 112, x + 26, 152), fill=(250, 250, 230))
    pen.rectangle((0, 270, 480, 310), fill=DARK)
    for window in range(10, 470, 46):
        pen.rectangle((window, 276, window + 26, 296), fill=YELLOW)


def _bread(pen: Pen, x: int, rng: random.Random) -> None:
    pen.polygon([(40, 330), (220, 130), (260, 130), (460, 330)], fill=(120, 90, 70))
    pen.polygon([(120, 320), (236, 140), (246, 140), (380, 320)], fill=(214, 160, 90))
    for person in range(50, 440, 56):
        pen.ellipse((person, 90, person + 22, 112), fill=(230, 190, 160))
        pen.rectangle((person - 2, 112, person + 24, 160), fill=(245, 245, 245))


def _market(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((0, 0, 480, 120), fill=(110, 60, 50))
    pen.rectangle((0, 200, 480, 360), fill=(90, 180, 200))
    for column in range(20, 480, 64):
        pen.rectangle((column, 60, column + 14, 330), fill=(60, 70, 70))
        pen.pieslice((column - 26, 40, column + 40, 130), 180, 360, fill=(60, 70, 70))


def _chapel(pen: Pen, x: int, rng: random.Random) -> None:
    pen.rectangle((x - 80, 200, x + 80, 320), fill=(235, 230, 220))
    pen.polygon([(x - 96, 200), (x, 120), (x + 96, 200)], fill=(80, 70, 90))
    pen.rectangle((x - 10, 80, x + 10, 150), fill=(235, 230, 220))


_THINGS: dict[str, Callable[[Pen, int, random.Random], None]] = {
    "lighthouse": _lighthouse,
    "bridge": _bridge,
    "castle": _castle,
    "windmill": _windmill,
    "temple": _temple,
    "tram": _tram,
    "ferry": _ferry,
    "bell_tower": _bell_tower,
    "statue": _statue,
    "observatory": _observatory,
    "pavilion": _pavilion,
    "water_tower": _water_tower,
    "folly": _folly,
    "barrier": _barrier,
    "regatta": _regatta,
    "kites": _kites,
    "library": _library,
    "chess": _chess,
    "comet": _comet,
    "bread": _bread,
    "market": _market,
    "chapel": _chapel,
}
