"""Questions: kept apart from the evaluation sets, chosen by hash, handed over with everything a teacher's site needs.

``decontaminate`` splits a bucket's table, ``select`` chooses and lays out, ``pack_pictures`` makes the archive, and
``pack`` completes the package and says in MANIFEST.json what it is. ``EvaluationIndex`` is what the audit gets of the
evaluation sets.

Decisions that could have gone otherwise:

* *Exact joins* (``hamming``, ``jaccard``) instead of sketches: at this size pigeonhole and prefix filtering are faster
  than MinHash and miss nothing, so the same pairs as by brute force is a testable promise.
* *A pair is compared by Jaccard when both texts are long*, so that lowering one text's length never brings in the
  templated short questions of which nearly all matches are false.
* *Every match is written, the first one counts*: a drop names all items that it met, and counts still add up.
* *The pilot is the beginning of the order of choice*, not a second draw: it does not move when counts change.
* *The cap per article is per bucket*: a cap over two buckets would let one bucket's data change another's choice.
* *Three stages*, selection, picture archive and the rest, so that a changed command is shipped without selecting or
  packing gigabytes of pictures again.
"""

from .decontaminate import DropCounts, decontaminate, read_drops
from .evaluation_index import EvaluationIndex, write_index
from .fingerprints import Fingerprints, Item, hashed_by, read_items
from .image_tar import PackedPictures
from .match import JACCARD, PHASH, RULES, SAME_PICTURE_TEXT, Match
from .matcher import Matcher, Subject
from .pack import Evidence, pack, pack_pictures
from .select_questions import Selected, select
from .settings import BucketPlan, DecontaminationSettings, SelectionSettings

__all__ = [
    "JACCARD",
    "PHASH",
    "RULES",
    "SAME_PICTURE_TEXT",
    "BucketPlan",
    "DecontaminationSettings",
    "DropCounts",
    "EvaluationIndex",
    "Evidence",
    "Fingerprints",
    "Item",
    "Match",
    "Matcher",
    "PackedPictures",
    "Selected",
    "SelectionSettings",
    "Subject",
    "decontaminate",
    "hashed_by",
    "pack",
    "pack_pictures",
    "read_drops",
    "read_items",
    "select",
    "write_index",
]
