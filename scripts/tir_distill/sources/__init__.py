"""Sources: pinned files from a hub, read into candidates and into fingerprints of what must not be trained on.

Three steps, each a command: ``fetch`` brings the files that a source needs and locks them, ``read_questions`` turns
them into a bucket's table with its pictures stored once, ``read_evaluation`` turns an evaluation set into hashes.

Decisions that could have gone otherwise:

* *Readers read tables themselves* (pyarrow, one batch at a time) instead of through ``datasets``: that library casts
  all files of a set to the first one's columns, which fails on FVQA, and copies everything into a cache of its own.
* *One picture policy* (``pictures``) before hashing: ImageHash on the upstream file would ignore EXIF rotation and keep
  hidden colour under transparency, so the hash would not describe what the teacher sees. For plain files, which nearly
  all are, the hash equals ImageHash's on the file itself.
* *Units of mixed texts are mixed* (``text_units``): words and character bigrams in one set, so that no threshold
  decides which kind a text is.
* *LiveVQA's cap per article* is not applied here: the reader gives the article as ``group``.
* *Evaluation text never reaches the disk*, not even in a list of rejects: a reject there has a reason but no detail.
"""

from .bucket_table import candidates, read_questions
from .candidate import Candidate, EvaluationItem
from .counts import Counts
from .evaluation_table import Fingerprint, evaluation_items, read_evaluation
from .hub import fetch
from .lock import Lock, LockedFile
from .numpy_list import naive_parse, parse_list
from .phash import PicturePrint, distance, phash_of, picture_print
from .picture_store import PictureStore
from .pictures import StoredPicture, prepare
from .readers import EVALUATION_READERS, QUESTION_READERS, evaluation_reader, question_reader
from .settings import ReadSettings, SourceSettings
from .tables import give_memory_back
from .text_units import TextPrint, gram_hashes, jaccard, normalise, shingles, text_key, tokens, units

__all__ = [
    "EVALUATION_READERS",
    "QUESTION_READERS",
    "Candidate",
    "Counts",
    "EvaluationItem",
    "Fingerprint",
    "Lock",
    "LockedFile",
    "PicturePrint",
    "PictureStore",
    "ReadSettings",
    "SourceSettings",
    "StoredPicture",
    "TextPrint",
    "candidates",
    "distance",
    "evaluation_items",
    "evaluation_reader",
    "fetch",
    "give_memory_back",
    "gram_hashes",
    "jaccard",
    "naive_parse",
    "normalise",
    "parse_list",
    "phash_of",
    "picture_print",
    "prepare",
    "question_reader",
    "read_evaluation",
    "read_questions",
    "shingles",
    "text_key",
    "tokens",
    "units",
]
