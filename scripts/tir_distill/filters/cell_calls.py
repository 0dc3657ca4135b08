"""What a call in a cell may change, by the name of what is called.

Whatever is not known here may change all that it is given. The lists only hold what models call all the time: without
them a printed ``im.size`` would count as a change of ``im``, and half of the cells could not be cut.
"""

from __future__ import annotations

import re
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Effect(NamedTuple):
    """What one call may do."""

    receiver: bool = True
    """Changes the object whose method it is."""
    arguments: bool = True
    """Changes what it is given."""
    rest: bool = True
    """Changes what it is given after the first argument (OpenCV's place for a result)."""
    fresh: bool = False
    """Its result shares nothing with receiver and arguments."""
    keeps: bool = False
    """The receiver holds the arguments afterwards."""
    state: str = ""
    """Part of a module whose state it changes, dotted."""


UNKNOWN = Effect()
_LOOKS = Effect(receiver=False, arguments=False, rest=False)
_COPIES = Effect(receiver=False, arguments=False, rest=False, fresh=True)
_COLLECTS = Effect(arguments=False, rest=False, keeps=True)
_SAVES = Effect(receiver=False, fresh=True)

CHANGING_WORDS = frozenset({"inplace", "in_place", "out", "dst", "output", "file"})
"""Keywords by which a call that else copies changes something."""

DYNAMIC = frozenset({"exec", "eval", "globals", "locals", "vars", "__import__", "compile", "get_ipython"})
"""Built-ins that reach names which do not stand in the code."""

_BUILTIN_COPIES = _words(
    """
    print len str int float complex bool repr abs round range isinstance issubclass type id hash ord chr hex bin oct
    format divmod pow any all sum callable hasattr dir ascii
    """
)
_BUILTIN_LOOKS = _words("sorted list tuple dict set frozenset min max zip enumerate reversed getattr bytes open")

_METHOD_COPIES = _words(
    """
    crop resize rotate convert getpixel copy getbbox getcolors histogram getextrema tobytes quantize entropy mean
    std var sum min max any all argmax argmin median astype tolist flatten item nonzero round cumsum prod strip
    lstrip rstrip split rsplit splitlines lower upper title capitalize replace join format startswith endswith find
    rfind index count encode decode isdigit isalpha isnumeric zfill ljust rjust center partition rpartition describe
    to_string value_counts nunique isna isnull notna to_dict to_list enhance group groups span total_seconds
    strftime isoformat most_common union intersection difference issubset show
    """
)
_METHOD_LOOKS = _words(
    """
    get keys values items load transpose filter getdata getchannel getbands split reshape ravel view squeeze head
    tail groupby agg unique nlargest nsmallest sort_values sort_index reset_index set_index dropna fillna merge
    to_numpy iterrows itertuples
    """
)
_METHOD_COLLECTS = frozenset({"append", "add", "insert", "extend", "appendleft", "setdefault", "update", "write"})
_METHOD_SAVES = frozenset({"save", "savefig", "to_csv", "to_json", "to_excel", "to_parquet", "to_pickle", "tofile"})
_IN_PLACE_ELSEWHERE = frozenset({"resize", "rotate"})
"""Copies of a picture, changes of an array or a deque; by itself in a line it was called to change."""

_STATELESS = _words(
    """
    numpy PIL math cmath json re statistics collections itertools functools string textwrap base64 io hashlib
    datetime time fractions decimal colorsys copy pandas skimage scipy pytesseract typing dataclasses os cv2
    matplotlib glob pathlib unicodedata struct shutil
    """
)
"""Modules whose functions leave no state behind, but for those in ``_SETS_STATE``."""
_SETS_STATE = re.compile(
    r"set(?:_|[A-Z]|err|context|locale)|seed|register|reset|use$|rc$|getcontext|simplefilter|putenv"
)
_ENVIRONMENT = frozenset({"update", "setdefault", "pop", "clear", "popitem"})
_CHANGES_ARGUMENTS = _words(
    """
    copyto put place putmask put_along_axis fill_diagonal shuffle at floodfill apply_along_axis save savez
    savez_compressed savetxt dump
    """
)
_VIEWS = _words(
    """
    Draw fromarray frombuffer asarray asanyarray ascontiguousarray atleast_2d atleast_3d reshape ravel squeeze
    transpose swapaxes moveaxis flip fliplr flipud rot90 expand_dims broadcast_to split array_split DataFrame Series
    deque copy chain islice BytesIO partial OrderedDict defaultdict namedtuple diag diagonal real
    """
)
_OPENCV_COPIES = _words(
    """
    cvtColor resize threshold adaptiveThreshold GaussianBlur medianBlur blur bilateralFilter Canny Sobel Laplacian
    imread imwrite imdecode imencode findContours contourArea boundingRect minAreaRect arcLength approxPolyDP
    morphologyEx dilate erode getStructuringElement inRange bitwise_and bitwise_or bitwise_not bitwise_xor rotate
    flip warpAffine warpPerspective getRotationMatrix2D getPerspectiveTransform HoughLines HoughLinesP HoughCircles
    matchTemplate minMaxLoc calcHist equalizeHist createCLAHE merge addWeighted absdiff connectedComponents
    connectedComponentsWithStats moments convexHull copyMakeBorder filter2D mean meanStdDev countNonZero
    fastNlMeansDenoising fastNlMeansDenoisingColored
    """
)
_PLOTTING = _words(
    """
    imshow plot bar barh scatter hist title suptitle xlabel ylabel show figure subplots subplot axis tight_layout
    legend close text grid xticks yticks xlim ylim axhline axvline pie imread gcf gca
    """
)


def builtin_effect(name: str) -> Effect | None:
    """Effect of a built-in function, None for a name that is none of the known ones."""
    if name in _BUILTIN_COPIES:
        return _COPIES
    return _LOOKS if name in _BUILTIN_LOOKS else None


def method_effect(name: str, *, statement: bool) -> Effect:
    """Effect of a method, by its name alone. ``statement``: its result is thrown away."""
    if name in _METHOD_SAVES:
        return _SAVES
    if name in _METHOD_COLLECTS:
        return _COLLECTS
    if statement and name in _IN_PLACE_ELSEWHERE:
        return UNKNOWN
    if name in _METHOD_LOOKS:
        return _LOOKS
    return _COPIES if name in _METHOD_COPIES else UNKNOWN


def module_effect(path: str) -> Effect:
    """Effect of a function of an imported module, by its dotted name."""
    owner, _, name = path.rpartition(".")
    parts = owner.split(".")
    state = ""
    if "random" in parts or parts[0] not in _STATELESS or _SETS_STATE.match(name):
        state = owner or name
    elif "environ" in parts and name in _ENVIRONMENT:
        state = owner
    if parts[0] == "matplotlib":
        if state:
            state = "matplotlib"  # settings hold for all plots to come
        return Effect(False, name not in _PLOTTING, name not in _PLOTTING, state=state)
    if parts[0] == "cv2":
        return Effect(False, name not in _OPENCV_COPIES, True, fresh=name in _OPENCV_COPIES, state=state)
    changes = name in _CHANGES_ARGUMENTS or parts[0] not in _STATELESS | {"random"}
    return Effect(False, changes, changes, fresh=name not in _VIEWS and not changes, state=state)
