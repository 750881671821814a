# SPDX-License-Identifier: Apache-2.0
"""Progress bars: on a terminal and in notebooks, for calls that take longer than a moment."""
import shutil
import sys
import time
from typing import Any, Optional

from . import _hac
from ._connection import thread

DELAY = 0.5  # seconds before the bar appears
CELLS = 24
SILENCE = (0.0, "no news from hacd yet", "", 0.0, -1.0, "")


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _text_of(news: tuple) -> str:
    _, stage, _, rate, left, note = news
    parts = [stage]
    if rate > 0:
        unit, name = next((pair for pair in ((1e9, " G"), (1e6, " M"), (1e3, " k")) if rate >= pair[0]), (1, ""))
        parts.append(f"{rate / unit:.3g}{name} items/s")
    if left >= 0 and stage != "queued":
        parts.append(f"{left:.1f} s left")
    if note:
        parts.append(f"({note})")
    return "".join(c if c.isprintable() else "?" for c in "  ".join(filter(None, parts)))


class _Line:
    """The bar as plain text, which is rewritten in its line."""

    def __init__(self) -> None:
        self.wide = 0

    def show(self, fraction: float, text: str) -> None:
        full = int(fraction * CELLS)
        line = f"[{'#' * full}{'-' * (CELLS - full)}] {fraction:4.0%}  {text}"[:shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r{line:{self.wide}}")
        sys.stderr.flush()
        self.wide = len(line)

    def close(self) -> None:
        sys.stderr.write(f"\r{'':{self.wide}}\r")
        sys.stderr.flush()


class _Tqdm:
    """The bar as tqdm draws it: in notebooks with widgets, if they are there."""

    def __init__(self, tqdm: Any) -> None:
        self.bar = tqdm(total=1.0, leave=False, file=sys.stderr, bar_format="{percentage:3.0f}%|{bar}| {desc}")

    def show(self, fraction: float, text: str) -> None:
        self.bar.n = fraction
        self.bar.set_description_str(text, refresh=False)
        self.bar.refresh()

    def close(self) -> None:
        self.bar.close()


def _drawer() -> Any:
    try:
        if _in_notebook():
            import ipywidgets  # noqa: F401 - tqdm's notebook bars are made of them
            from tqdm.notebook import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return _Line()
    return _Tqdm(tqdm)


class Bar:
    """The progress bar of one call. `record` is the option of its job that hacd's news come to."""

    def __init__(self) -> None:
        self.record = _hac.Progress()
        self.begin = time.monotonic()
        self.drawn: Any = None

    def show(self) -> None:
        """Draws what hacd said last, but for short jobs."""
        if time.monotonic() - self.begin < DELAY:
            return
        news = self.record.read() or SILENCE
        if self.drawn is None:
            self.drawn = _drawer()
        self.drawn.show(min(max(news[0], 0.0), 1.0), _text_of(news))

    def close(self) -> None:
        if self.drawn is not None:
            self.drawn.close()


def bar_of(progress: Optional[bool]) -> Optional[Bar]:
    """The bar of a call whose argument `progress` is this: None stands for where somebody sees it."""
    if progress is None:
        progress = thread.task is None and (_is_terminal() or _in_notebook())
    return Bar() if progress else None
