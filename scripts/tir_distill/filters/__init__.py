"""F1 to F11 and further rules as pure functions over a trajectory, the repair of F5, and the figures over a run.

Design notes.

* One module per rule, each ``check(trajectory, settings) -> Fail | None``. Rules know nothing of each other, so the set
  of accepted samples does not depend on their order; only the drop reason does.
* The repair is a step of its own before all rules (RULINGS 7): rules see the conversation that a row would hold.
* A cut that would leave a quote, a name or a file without its source drops the sample. Keeping such a sample
  would teach the student to refer to results that it never saw; the other choice was more rows.
* Nothing is tokenised: counts are in the record, and the repair scales them.
"""

from .behaviour import behaviour_of
from .evaluate import RULE_ORDER, evaluate
from .repair import repair
from .report import Fail, FilterReport
from .search_costs import SearchCosts
from .settings import EXTRA_RULES, RULES_VERSION, EvaluationText, FilterSettings
from .stage import FilterCounts, filter_file, filter_reports, read_trajectories
from .stats import StatsBuilder

__all__ = [
    "EXTRA_RULES",
    "RULES_VERSION",
    "RULE_ORDER",
    "EvaluationText",
    "Fail",
    "FilterCounts",
    "FilterReport",
    "FilterSettings",
    "SearchCosts",
    "StatsBuilder",
    "behaviour_of",
    "evaluate",
    "filter_file",
    "filter_reports",
    "read_trajectories",
    "repair",
]
