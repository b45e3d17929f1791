"""A figure in several file formats, drawn once for all of them but PNG.

matplotlib would find the place of every mark and text anew for each file. Here one pass over the figure calls the renderer of
each format in turn.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from io import BytesIO

from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.textpath import text_to_path

from recuse.plot.fonts import small_fonts

VECTOR = "svg", "pdf"


def pictures(figure: Figure, metadata: Mapping[str, Mapping]) -> dict[str, bytes]:
    """The bytes of `figure` in each of these formats (svg, pdf, png), with the metadata of each.

    They depend on the figure and the metadata of the format alone, whatever the other formats are.
    """
    files = {name: BytesIO() for name in metadata}

    def save(formats, renderers=()):
        """Let the first format make its renderer, then the others theirs, and draw once all are there."""
        if not formats:
            type(figure).draw(figure, Renderers(renderers))
            return
        first, *others = formats
        figure.draw = lambda renderer: save(others, [*renderers, renderer])
        figure.savefig(files[first], format=first, metadata=metadata[first])

    vector = [name for name in VECTOR if name in files]
    try:
        with small_fonts() if "pdf" in files else nullcontext():
            if vector:
                save(vector)
    finally:
        figure.__dict__.pop("draw", None)
    for name in files.keys() - VECTOR:
        figure.savefig(files[name], format=name, metadata=metadata[name])
    return {name: file.getvalue() for name, file in files.items()}


class Renderers(RendererBase):
    """Renderers in points, which all draw the same; that of a PDF file, if any, is the last.

    Texts are measured as for SVG, whose measure holds at every size.
    """

    def __init__(self, renderers: Sequence[RendererBase]):
        """Draw with these renderers of one page."""
        super().__init__()
        self.renderers = renderers
        for name in ("open_group", "close_group", "draw_path", "draw_markers", "draw_path_collection"):
            setattr(self, name, partial(_call, [getattr(renderer, name) for renderer in renderers]))
        self.new_gc = renderers[-1].new_gc  # PDF's own kind serves the others, too
        self.get_canvas_width_height = renderers[-1].get_canvas_width_height
        self.get_text_width_height_descent = text_to_path.get_text_width_height_descent

    def flipy(self) -> bool:
        """Heights are from the foot of the page."""
        return False

    def draw_text(self, gc: GraphicsContextBase, x: float, y: float, *text: object, **settings: object) -> None:
        """Draw a text, from the foot or the head of the page, as each renderer counts."""
        _, height = self.get_canvas_width_height()
        for renderer in self.renderers:
            renderer.draw_text(gc, x, height - y if renderer.flipy() else y, *text, **settings)


def _call(functions: Sequence[Callable], *arguments: object, **settings: object) -> None:
    for function in functions:
        function(*arguments, **settings)
