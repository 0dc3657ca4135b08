"""Finished work, told to a person: what became of a question, and a report of runs to read in a browser.

Nothing here decides anything or changes a file of another stage. Private evaluation runs are never read.
"""

from .page import write_page
from .places import Places
from .story import Event, story

__all__ = ["Event", "Places", "story", "write_page"]
