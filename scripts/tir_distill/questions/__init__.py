"""Questions: kept apart from the evaluation sets, chosen by hash, handed over with everything a teacher's site needs.

``decontaminate`` splits a bucket's table, ``select`` chooses and lays out, ``pack`` completes the package and says in
MANIFEST.json what it is. ``EvaluationIndex`` is what the audit gets of the evaluation sets.

Decisions that could have gone otherwise:

* *Exact joins* (``hamming``, ``jaccard``) instead of sketches: at this size pigeonhole and prefix filtering are faster
  than MinHash and miss nothing, so the same pairs as by brute force is a testable promise.
* *A pair is compared by Jaccard when both texts are long*, so that lowering one text's length never brings in the
  templated short questions of which nearly all matches are false.
* *Every match is written, the first one counts*: a drop names all items that it met, and counts still add up.
* *The pilot is the beginning of the order of choice*, not a second draw: it does not move when counts change.
* *The cap per article is per bucket*: a cap over two buckets would let one bucket's data change another's choice.
* *Two stages*, select and pack, so that a change of the commands repacks and does not select again.
"""

from .decontaminate import DropCounts, decontaminate, read_drops
from .evaluation_index import EvaluationIndex, write_index
from .fingerprints import Fingerprints, Item, read_items
from .match import JACCARD, PHASH, RULES, SAME_PICTURE_TEXT, Match
from .matcher import Matcher, Subject
from .pack import Evidence, pack
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
    "Selected",
    "SelectionSettings",
    "Subject",
    "decontaminate",
    "pack",
    "read_drops",
    "read_items",
    "select",
    "write_index",
]
