"""Pieces of a study's prompts: what is drawn for prompts is drawn for so many codes at a time, whatever prompts a slice has."""

from collections.abc import Iterator

import numpy as np

PROMPTS = 1024  # codes of a piece: of it depends what a seed gives, and how many prompts are held


class Pieces:
    """Values of the prompts of a slice, which come a few at a time, rising by code, and are handed on by piece."""

    def __init__(self) -> None:
        """Start without prompts."""
        self._held: list[tuple[np.ndarray, np.ndarray]] = []  # codes and values, all of one piece

    def add(self, prompts: np.ndarray, values: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Take the next prompts, (prompts,) and (prompts, quantities), and yield the pieces that are whole.

        Of each its number, the places in it of the prompts that came, and their values. The last piece is held until `rest`.
        """
        bounds = np.flatnonzero(np.diff(prompts // PROMPTS)) + 1
        for codes, rows in zip(np.split(prompts, bounds), np.split(values, bounds), strict=True):
            if self._held and self._held[0][0][0] // PROMPTS != codes[0] // PROMPTS:
                yield from self.rest()
            self._held.append((codes, rows))

    def rest(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the last piece, of which no more prompts come, if there is one."""
        if self._held:
            codes, values = map(np.concatenate, zip(*self._held, strict=True))
            self._held = []
            piece = int(codes[0]) // PROMPTS
            yield piece, codes - piece * PROMPTS, values


def size_of(piece: int, prompts: int) -> int:
    """Number of codes in a piece, of so many of the study."""
    return min(PROMPTS, prompts - piece * PROMPTS)
