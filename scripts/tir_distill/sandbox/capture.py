"""Pictures that a cell shows: matplotlib figures and PIL images become PNG bytes instead of windows."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from typing import Any

SAVED_AS_PICTURE = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


@dataclass(slots=True)
class Shown:
    """Pictures shown by the running cell, in order."""

    limit: int
    pixels: int
    """Largest picture that is returned."""
    images: list[tuple[str, bytes]] = field(default_factory=list)
    left_out: int = 0
    cell: int = 0

    def clear(self) -> None:
        """Before each cell."""
        self.images, self.left_out = [], 0
        self.cell += 1

    def image(self, image: Any) -> None:
        """A PIL image."""
        if len(self.images) >= self.limit or image.width * image.height > self.pixels:
            self.left_out += 1
            return
        if image.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
            image = image.convert("RGB")
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=1)
        self.images.append((f"shown_{len(self.images) + 1}.png", buffer.getvalue()))

    def figure(self, figure: Any) -> None:
        """A matplotlib figure, unless this cell saved it to a file, which is returned anyway."""
        if getattr(figure, "_saved_in_cell", 0) == self.cell:
            return
        width, height = figure.get_size_inches() * figure.dpi
        if len(self.images) >= self.limit or width * height > self.pixels:
            self.left_out += 1
            return
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", bbox_inches="tight")
        self.images.append((f"figure_{len(self.images) + 1}.png", buffer.getvalue()))

    def open_figures(self) -> None:
        """Show and close every open figure, as notebooks do at the end of a cell."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not pyplot.get_fignums():
            return
        try:
            for number in pyplot.get_fignums():
                self.figure(pyplot.figure(number))
        finally:
            pyplot.close("all")


def install(shown: Shown) -> None:
    """Redirect ``plt.show``, ``Figure.show``, ``Image.show`` and ``cv2.imshow`` into ``shown``."""
    import PIL.Image

    def show_image(self: Any, title: str | None = None) -> None:
        shown.image(self)

    PIL.Image.Image.show = show_image  # type: ignore[method-assign]
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        from matplotlib.figure import Figure

        save = Figure.savefig

        def savefig(self: Any, fname: Any, *arguments: Any, **options: Any) -> Any:
            result = save(self, fname, *arguments, **options)
            if str(fname).lower().endswith(SAVED_AS_PICTURE):
                self._saved_in_cell = shown.cell
            return result

        def show(*_arguments: Any, **_options: Any) -> None:
            shown.open_figures()

        Figure.savefig = savefig  # type: ignore[method-assign]
        Figure.show = lambda self, warn=True: shown.figure(self)  # type: ignore[method-assign]
        pyplot.show = show  # type: ignore[attr-defined]
    cv2 = sys.modules.get("cv2")
    if cv2 is not None:

        def imshow(_name: str, array: Any) -> None:
            shown.image(PIL.Image.fromarray(array[..., ::-1] if array.ndim == 3 else array))

        cv2.imshow = imshow  # type: ignore[attr-defined]
        cv2.waitKey = lambda delay=0: -1  # type: ignore[attr-defined]
        cv2.destroyAllWindows = lambda: None  # type: ignore[attr-defined]
