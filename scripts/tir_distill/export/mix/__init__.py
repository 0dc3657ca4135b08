"""Training mixes: accepted rows, cleaned legacy rows and any other ms-swift file as one reproducible data set.

Rows are indexed once and read again by their place, so a mix of any size needs memory for short entries only. A
question stays in the first part that has it; validation holds whole groups of rows that share a question or a picture.
"""

from .choose import Chosen, choose
from .index import Drops, Entry, Look, Print, conform, read_part
from .launch import sft_arguments, write_launch_files
from .publish import check_mix, push, stage_mix, write_descriptions
from .settings import MixSettings, Part
from .write import describe, rows_of, starts_complete, write_mix

__all__ = [
    "Chosen",
    "Drops",
    "Entry",
    "Look",
    "MixSettings",
    "Part",
    "Print",
    "check_mix",
    "choose",
    "conform",
    "describe",
    "push",
    "read_part",
    "rows_of",
    "sft_arguments",
    "stage_mix",
    "starts_complete",
    "write_descriptions",
    "write_launch_files",
    "write_mix",
]
