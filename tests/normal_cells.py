# ruff: noqa: E501, SIM905 - cells are kept as a model writes them
"""Ordinary cells, as a model writes them: each must print inside the sandbox what it prints outside.

Every cell stands alone, prints something, and prints the same each time.
"""

from __future__ import annotations

CELLS = [
    cell.strip() + "\n"
    for cell in r"""
print(6 * 7)
####
x = [n * n for n in range(10)]
x
####
{"b": 1, "a": [1, 2, {"c": None}]}
####
"text".upper()
####
None
print("nothing above")
####
def f(a, *, b=2, **rest):
    yield from (a, b, *rest.values())
print(list(f(1, c=3)))
####
class Point:
    def __init__(self, x):
        self.x = x
    def __repr__(self):
        return f"Point({self.x})"
Point(3)
####
import pickle
class Box:
    def __init__(self, value):
        self.value = value
print(pickle.loads(pickle.dumps(Box([1, 2]))).value)
####
from dataclasses import dataclass
@dataclass(order=True)
class Row:
    a: int
    b: str = "x"
print(sorted([Row(2), Row(1)]))
####
match {"kind": "circle", "r": 2}:
    case {"kind": "circle", "r": r}:
        print(3.14159 * r ** 2)
####
print({*"abracadabra"} == set("abrcd"), sorted({*"abracadabra"}))
####
print([*{"one", "two", "three", "four"}])
####
from decimal import Decimal, getcontext
getcontext().prec = 50
print(Decimal(1) / Decimal(7))
####
from fractions import Fraction
print(sum(Fraction(1, n) for n in range(1, 11)))
####
import math
print(math.comb(50, 25), math.isclose(math.gamma(5), 24), math.prod(range(1, 20)))
####
import statistics
print(statistics.quantiles([1, 5, 2, 8, 7], n=4), statistics.stdev([1, 2, 3, 4]))
####
import itertools, collections
print(collections.Counter(itertools.chain("hello", "world")).most_common(3))
####
import functools
@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(200))
####
import re
print(re.findall(r"(\d+)-(\w+)", "12-ab 34-cd"), re.sub(r"\s+", " ", "a  b\n c"))
####
import json
print(json.dumps({"a": "图", "b": [1.5, None, True]}, ensure_ascii=False, indent=1))
####
print('{"a": 1}')
####
import csv, io
print(list(csv.DictReader(io.StringIO("a,b\n1,\"x, y\"\n"))))
####
import datetime, zoneinfo
moment = datetime.datetime(2024, 3, 10, 12, tzinfo=zoneinfo.ZoneInfo("America/New_York"))
print(moment.astimezone(zoneinfo.ZoneInfo("Asia/Shanghai")).isoformat())
####
import datetime
print((datetime.date(2024, 2, 29) + datetime.timedelta(days=366)).strftime("%A %d %B %Y"))
####
import datetime
print(datetime.datetime.fromtimestamp(0).isoformat(), datetime.datetime.now().astimezone().tzname())
####
import time
print(time.strftime("%Y", time.gmtime(1700000000)), time.tzname)
####
import calendar
print(calendar.month(2024, 2))
####
import locale
print(f"{1234567.891:,.2f}", locale.setlocale(locale.LC_ALL, "C"))
####
import unicodedata
print(unicodedata.name("图"), unicodedata.normalize("NFKC", "ｆｕｌｌ１"))
####
print("中文 日本語 한국어 émoji 🙂 العربية")
####
import sys
print(sys.version_info[:2], sys.maxsize, sys.byteorder)
####
import hashlib, hmac, base64, zlib
print(hashlib.sha256(b"a").hexdigest()[:16], base64.b64encode(b"ab"), zlib.crc32(b"abc"), hmac.new(b"k", b"m", "md5").hexdigest())
####
import random
random.seed(7)
print([random.randint(1, 100) for _ in range(5)], random.choice("abc"))
####
import secrets
print(len(secrets.token_hex(16)))
####
import uuid
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"))
####
import textwrap, string, difflib
print(textwrap.fill("word " * 30, 40))
print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]))
####
import heapq, bisect
h = [5, 1, 4]
heapq.heapify(h)
print(heapq.heappop(h), bisect.bisect([1, 3, 5], 4))
####
import enum
class Colour(enum.Enum):
    RED = 1
print(Colour.RED, Colour(1))
Colour.RED
####
import operator, copy
print(copy.deepcopy({"a": [1]}), operator.itemgetter(1)([5, 6]))
####
with open("note.txt", "w", encoding="utf-8") as handle:
    handle.write("一\n二\n")
print(open("note.txt", encoding="utf-8").read().splitlines())
####
import pathlib
folder = pathlib.Path("made/deep")
folder.mkdir(parents=True)
(folder / "a.txt").write_text("x")
print([str(path) for path in sorted(pathlib.Path(".").rglob("*.txt"))])
####
import os
os.makedirs("d1", exist_ok=True)
open("d1/a", "w").close()
os.rename("d1/a", "d1/b")
os.replace("d1/b", "moved")
print(sorted(os.listdir("d1")), os.path.exists("moved"), os.path.getsize("moved"))
####
import shutil
open("s.txt", "w").write("abc")
shutil.copy("s.txt", "t.txt")
shutil.copy2("s.txt", "u.txt")
shutil.move("t.txt", "v.txt")
print(open("v.txt").read(), os.path.exists("t.txt") if "os" in dir() else "")
####
import shutil, os
os.makedirs("tree/in")
open("tree/in/f", "w").write("1")
shutil.copytree("tree", "copy")
shutil.rmtree("tree")
print(os.path.exists("tree"), open("copy/in/f").read())
####
import tempfile
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as handle:
    handle.write("t")
    handle.flush()
    print(open(handle.name).read())
####
import tempfile, os
with tempfile.TemporaryDirectory() as folder:
    open(os.path.join(folder, "a"), "w").write("x")
    print(os.listdir(folder))
print(os.path.exists(folder))
####
import tempfile
with tempfile.TemporaryFile() as handle:
    handle.write(b"abc")
    handle.seek(0)
    print(handle.read())
####
import zipfile
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x.txt", "hello" * 100)
with zipfile.ZipFile("a.zip") as archive:
    archive.extractall("out")
    print(archive.namelist(), len(open("out/x.txt").read()))
####
import tarfile, io
with tarfile.open("a.tar.gz", "w:gz") as archive:
    data = b"content"
    info = tarfile.TarInfo("f.txt")
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))
with tarfile.open("a.tar.gz") as archive:
    archive.extractall("untar")
print(open("untar/f.txt").read())
####
import gzip, bz2, lzma
print([len(module.decompress(module.compress(b"x" * 1000))) for module in (gzip, bz2, lzma)])
####
import sqlite3
base = sqlite3.connect("base.db")
base.execute("create table t (a integer, b text)")
base.executemany("insert into t values (?, ?)", [(1, "x"), (2, "y")])
base.commit()
print(base.execute("select sum(a), group_concat(b) from t").fetchall())
####
import sqlite3
base = sqlite3.connect(":memory:")
print(base.execute("select 7 / 2.0, upper('a')").fetchone())
####
import shelve
with shelve.open("shelf") as shelf:
    shelf["a"] = [1, 2]
with shelve.open("shelf") as shelf:
    print(shelf["a"])
####
import configparser
parser = configparser.ConfigParser()
parser.read_string("[a]\nb = 1\n")
print(parser["a"].getint("b"))
####
import xml.etree.ElementTree as tree
print([node.text for node in tree.fromstring("<a><b>1</b><b>2</b></a>").iter("b")])
####
import html, urllib.parse
print(html.unescape("&lt;a&gt;"), urllib.parse.quote("a b/图"), urllib.parse.urlparse("http://a.b/c?d=1").query)
####
import threading
results = []
threads = [threading.Thread(target=lambda n=n: results.append(n * n)) for n in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(sorted(results))
####
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda n: n + 1, range(5))))
####
import asyncio
async def work(n):
    await asyncio.sleep(0.01)
    return n * 2
async def main():
    return await asyncio.gather(*(work(n) for n in range(4)))
print(asyncio.run(main()))
####
import asyncio
async def main():
    queue = asyncio.Queue()
    await queue.put(1)
    async with asyncio.timeout(1):
        return await asyncio.to_thread(lambda: 5) + await queue.get()
print(asyncio.run(main()))
####
import queue, threading
q = queue.Queue()
threading.Timer(0.01, q.put, ["late"]).start()
print(q.get(timeout=2))
####
import contextlib, io
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("inside")
print(repr(buffer.getvalue()))
####
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("careful")
print(caught[0].message)
####
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", force=True)
logging.warning("noted")
####
import timeit, time
start = time.perf_counter()
sum(range(1000))
print(time.perf_counter() - start < 5)
####
import inspect, ast
print(ast.dump(ast.parse("a + 1", mode="eval")))
####
import os
print(os.cpu_count() > 0, os.sep, isinstance(os.getpid(), int))
####
import platform
print(platform.system(), platform.python_implementation())
####
import traceback
try:
    1 / 0
except ZeroDivisionError:
    print(traceback.format_exc().splitlines()[-1])
####
import mmap
open("m.bin", "wb").write(bytes(4096))
with open("m.bin", "r+b") as handle, mmap.mmap(handle.fileno(), 0) as view:
    view[0:3] = b"abc"
print(open("m.bin", "rb").read(3))
####
import struct, array
print(struct.unpack("<IH", struct.pack("<IH", 7, 9)), array.array("d", [1.5]).tobytes()[:4])
####
import signal
def late(*_):
    raise TimeoutError("rang")
signal.signal(signal.SIGUSR1, late)
try:
    signal.raise_signal(signal.SIGUSR1)
except TimeoutError as error:
    print(error)
####
import glob, fnmatch
open("one.csv", "w").close()
open("two.csv", "w").close()
print(sorted(glob.glob("*.csv")), fnmatch.fnmatch("a.py", "*.py"))
####
import numpy as np
print(np.arange(12).reshape(3, 4).sum(axis=0), np.linspace(0, 1, 5))
####
import numpy as np
np.random.seed(3)
print(np.random.rand(3).round(6), np.random.default_rng(5).integers(0, 100, 4))
####
import numpy as np
a = np.array([[4.0, 1], [1, 3]])
print(np.linalg.inv(a).round(4), np.linalg.eigvalsh(a).round(4), np.linalg.det(a).round(6))
####
import numpy as np
a = np.random.default_rng(0).normal(size=(300, 300))
print((a @ a.T).trace().round(3), np.linalg.svd(a, compute_uv=False)[:2].round(4))
####
import numpy as np
print(np.fft.fft([1, 2, 3, 4]).round(3), np.convolve([1, 2], [1, 1, 1]))
####
import numpy as np
np.save("a.npy", np.eye(2))
np.savetxt("a.csv", [[1, 2], [3, 4]], delimiter=",")
print(np.load("a.npy"), np.loadtxt("a.csv", delimiter=","))
####
import numpy as np
np.savez_compressed("z.npz", a=np.arange(3))
print(np.load("z.npz")["a"])
####
import numpy as np
m = np.memmap("big.dat", dtype="f4", mode="w+", shape=(1000,))
m[:] = 2
m.flush()
print(np.fromfile("big.dat", "f4").sum())
####
import numpy as np
print(np.polyfit([0, 1, 2], [1, 3, 7], 2).round(6), np.roots([1, -3, 2]))
####
import numpy as np
np.array([[1.5, 2], [3, 4]])
####
import numpy as np
print(np.histogram([1, 2, 2, 3, 5], bins=3), np.percentile([1, 2, 3, 4], 75), np.unique([3, 1, 3], return_counts=True))
####
import pandas as pd
pd.DataFrame({"城市": ["北京", "上海"], "n": [1.5, 2]})
####
import pandas as pd
frame = pd.DataFrame({"k": list("aabb"), "v": [1, 2, 3, 4]})
print(frame.groupby("k").v.agg(["sum", "mean"]))
####
import pandas as pd
frame = pd.DataFrame({"a": [1, 2]})
frame.to_csv("f.csv", index=False)
print(pd.read_csv("f.csv").merge(frame, on="a").describe())
####
import pandas as pd
print(pd.date_range("2024-01-31", periods=3, freq="ME").strftime("%d %b").tolist())
####
import pandas as pd
stamp = pd.Timestamp("2024-07-01 12:00", tz="Europe/Berlin")
print(stamp.tz_convert("UTC"), pd.to_datetime("3 May 2021").date())
####
import pandas as pd
print(pd.pivot_table(pd.DataFrame({"r": [1, 1, 2], "c": ["x", "y", "x"], "v": [1, 2, 3]}), values="v", index="r", columns="c", fill_value=0))
####
import pandas as pd
frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=4, freq="D"), "v": [1, 2, 3, 4]}).set_index("t")
print(frame.resample("2D").sum(), frame.rolling(2).mean().v.tolist())
####
import pandas as pd, io
print(pd.read_json(io.StringIO('[{"a": 1}, {"a": 2}]')), pd.read_csv(io.StringIO("a;b\n1;2"), sep=";").to_dict())
####
import pandas as pd
frame = pd.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"]}).sort_values("a")
frame.to_pickle("f.pkl")
print(pd.read_pickle("f.pkl").iloc[0].to_dict(), frame.query("a > 1").shape)
####
import pandas as pd
print(pd.DataFrame({"a": [1, 2]}).to_html(index=False)[:30], pd.Series([1, None, 3]).interpolate().tolist())
####
import pandas as pd, sqlite3
base = sqlite3.connect(":memory:")
pd.DataFrame({"a": [1, 2, 3]}).to_sql("t", base, index=False)
print(pd.read_sql("select sum(a) s from t", base).s[0])
####
from PIL import Image
image = Image.new("RGB", (40, 30), "red")
image.save("red.jpg")
print(Image.open("red.jpg").size, Image.open("red.jpg").format)
####
from PIL import Image
Image.new("RGB", (8, 8), (1, 2, 3)).rotate(90, expand=True).crop((1, 1, 5, 6)).resize((10, 10)).getpixel((3, 3))
####
from PIL import Image, ImageDraw, ImageFont
image = Image.new("L", (120, 40), 255)
ImageDraw.Draw(image).text((5, 5), "Hello", fill=0, font=ImageFont.load_default(20))
print(image.getbbox(), sum(image.histogram()[:128]) > 50)
####
from PIL import Image, ImageFilter, ImageOps, ImageEnhance
image = Image.linear_gradient("L").convert("RGB")
print(ImageOps.invert(image).filter(ImageFilter.GaussianBlur(2)).getpixel((10, 10)), ImageEnhance.Contrast(image).enhance(2).getpixel((5, 5)))
####
from PIL import Image
import io
buffer = io.BytesIO()
Image.new("RGBA", (5, 5), (1, 2, 3, 128)).save(buffer, "WEBP", lossless=True)
print(Image.open(buffer).mode, Image.open(buffer).getpixel((0, 0)))
####
from PIL import Image
frames = [Image.new("P", (10, 10), n) for n in range(3)]
frames[0].save("a.gif", save_all=True, append_images=frames[1:])
print(Image.open("a.gif").n_frames)
####
from PIL import Image
import numpy as np
print(np.asarray(Image.fromarray(np.arange(48, dtype="u1").reshape(4, 4, 3)).convert("L")))
####
from PIL import Image
image = Image.radial_gradient("L")
image.save("g.tif")
image.save("g.bmp")
print(Image.open("g.tif").getextrema(), Image.open("g.bmp").size)
####
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [1, 4, 9])
plt.title("squares")
plt.savefig("plot.png")
import os
print(os.path.getsize("plot.png") > 1000)
plt.close()
####
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2)
axes[0].bar(["a", "b"], [1, 2])
axes[1].pie([1, 2, 3], labels=list("xyz"))
figure.savefig("two.pdf")
print(len(figure.axes), open("two.pdf", "rb").read(4))
plt.close(figure)
####
import warnings
warnings.simplefilter("ignore")
import matplotlib.pyplot as plt
plt.bar(["北京", "上海"], [1, 2])
plt.xlabel("城市")
plt.savefig("cjk.png")
plt.close()
from PIL import Image
print(Image.open("cjk.png").size)
####
import matplotlib.pyplot as plt, numpy as np, io
x = np.linspace(0, 6, 50)
plt.figure(figsize=(4, 3), dpi=50)
plt.scatter(x, np.sin(x), c=x, cmap="viridis")
plt.colorbar()
buffer = io.BytesIO()
plt.savefig(buffer, format="svg")
plt.close()
print(buffer.getvalue()[:5])
####
import matplotlib.pyplot as plt, numpy as np
figure = plt.figure(figsize=(3, 3))
axes = figure.add_subplot(projection="3d")
axes.plot_surface(*np.meshgrid(range(5), range(5)), np.ones((5, 5)))
axes.set_title(r"$\int_0^1 x^2\,dx$")
figure.savefig("three.png")
plt.close(figure)
print("drawn")
####
import matplotlib.pyplot as plt
plt.imshow([[0, 1], [2, 3]])
figure = plt.gcf()
figure.canvas.draw()
print(figure.canvas.buffer_rgba().shape)
plt.close()
####
import matplotlib.font_manager as fonts
print(len(fonts.fontManager.ttflist) > 5, fonts.FontProperties(family="DejaVu Sans").get_name())
####
import cv2, numpy as np
image = np.zeros((60, 80, 3), "u1")
cv2.circle(image, (40, 30), 15, (0, 255, 0), -1)
cv2.putText(image, "Hi", (5, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255))
cv2.imwrite("c.png", image)
print(cv2.imread("c.png").sum() == image.sum(), cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean().round(3))
####
import cv2, numpy as np
image = (np.indices((64, 64)).sum(axis=0) * 2).astype("u1")
print(cv2.Canny(image, 50, 100).sum(), cv2.GaussianBlur(image, (5, 5), 1)[10, 10], cv2.resize(image, (10, 10)).shape)
####
import cv2, numpy as np
image = np.zeros((50, 50), "u1")
image[10:30, 10:40] = 255
contours, _ = cv2.findContours(image, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
print(cv2.contourArea(contours[0]), cv2.boundingRect(contours[0]))
####
import cv2, numpy as np
writer = cv2.VideoWriter("v.avi", cv2.VideoWriter_fourcc(*"MJPG"), 5, (32, 24))
for n in range(5):
    writer.write(np.full((24, 32, 3), n * 40, "u1"))
writer.release()
reader = cv2.VideoCapture("v.avi")
print(reader.isOpened(), int(reader.get(cv2.CAP_PROP_FRAME_COUNT)))
####
import cv2, numpy as np
ok, data = cv2.imencode(".jpg", np.full((16, 16, 3), 77, "u1"))
print(ok, cv2.imdecode(data, cv2.IMREAD_COLOR)[3, 3])
####
import cv2, numpy as np
a = np.random.default_rng(1).integers(0, 255, (100, 100), "u1")
print(cv2.matchTemplate(a, a[20:40, 30:50], cv2.TM_CCOEFF_NORMED).argmax(), cv2.countNonZero(cv2.threshold(a, 127, 255, cv2.THRESH_BINARY)[1]))
####
total = 0
for n in range(300000):
    total += n % 7
print(total)
####
def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1))
print([n for n in range(60) if is_prime(n)])
####
values = {"a": 1}
values |= {"b": 2}
print(values, [k for k, v in values.items() if v > 1], values.get("z", "none"))
####
first, *rest = [1, 2, 3]
print(first, rest, f"{rest=}", f"{3.14159:.2f}", f"{255:#x}")
####
print(sum(1 for line in "a\nb\nc".splitlines() if (n := len(line)) == 1), n)
####
from typing import NamedTuple
class Pair(NamedTuple):
    a: int
    b: int
Pair(1, 2)._replace(b=5)
####
import types
module = types.ModuleType("m")
exec("x = 5", module.__dict__)
print(module.x, eval("2 ** 10"), compile("1", "s", "eval").co_filename)
####
open("helper.py", "w").write("def twice(n):\n    return 2 * n\n")
import sys
sys.path.insert(0, ".")
import helper
print(helper.twice(4))
####
help(len)
####
print(*range(5), sep=", ", end="!\n")
import sys
sys.stdout.write("written\n")
####
import codecs
print("ab".encode("utf-16"), codecs.decode("uryyb", "rot13"), bytes.fromhex("ff00"), "é".encode("latin-1"))
####
import numbers, cmath
print(isinstance(3, numbers.Integral), cmath.sqrt(-1), (1 + 2j).conjugate(), 10 ** 30 % 97, round(2.5), -7 // 2)
####
import email.message
message = email.message.EmailMessage()
message["Subject"] = "hi"
message.set_content("text")
print(message.as_string())
####
import ipaddress
print(list(ipaddress.ip_network("10.0.0.0/30").hosts()))
####
import gc, weakref
class Node:
    pass
node = Node()
ref = weakref.ref(node)
del node
gc.collect()
print(ref() is None)
####
import os
os.environ["MINE"] = "1"
print(os.environ["MINE"], os.path.join("a", "b"), os.path.splitext("x.tar.gz"))
####
import getpass, pprint
pprint.pprint({"a": list(range(30)), "b": {"c": "d" * 50}})
####
import colorsys, wave, io
buffer = io.BytesIO()
with wave.open(buffer, "wb") as sound:
    sound.setnchannels(1)
    sound.setsampwidth(2)
    sound.setframerate(8000)
    sound.writeframes(bytes(1600))
print(len(buffer.getvalue()), colorsys.rgb_to_hsv(1, 0, 0))
""".split("####")
    if cell.strip()
]
