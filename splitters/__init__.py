"""Any file, cut where a reader would cut it, and put back to the byte.

Alone: `splitters.split(data, "python")`; see docs/splitters.md.
"""

from splitters.detect import detect
from splitters.document import Document
from splitters.language import Language
from splitters.outline import Declaration, Outline, outline
from splitters.piece import Piece, Pieces
from splitters.split import TARGET, split
from splitters.table import LANGUAGES, UnknownLanguageError

__all__ = [
    "LANGUAGES",
    "TARGET",
    "Declaration",
    "Document",
    "Language",
    "Outline",
    "Piece",
    "Pieces",
    "UnknownLanguageError",
    "detect",
    "outline",
    "split",
]
