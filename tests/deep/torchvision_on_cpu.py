"""Lets the packaged torchvision (a CUDA build) import beside a CPU torch of the same minor version.

Its compiled part cannot load there, so two operators whose schemas it registers do not exist and its import fails.
Declaring the schemas first is enough for the transforms in pure Python, which is all that processors use. Loaded by a
``.pth`` line in the environment of tests/deep.
"""

import sys
from typing import Any

SCHEMAS = {"nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"}
SCHEMAS["qnms"] = SCHEMAS["nms"]


class Finder:
    """Declares the schemas when torchvision is first looked for; finds nothing itself."""

    def __init__(self) -> None:
        self.libraries: list[Any] | None = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name != "torchvision" or self.libraries is not None:
            return
        self.libraries = []
        import torch

        for operator, schema in SCHEMAS.items():
            if not hasattr(torch.ops.torchvision, operator):
                library = torch.library.Library("torchvision", "FRAGMENT")
                library.define(operator + schema)
                self.libraries.append(library)  # a library that is collected takes its schemas along


sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
