"""tir-distill: from pinned raw data to audited teacher trajectories.

Rooms and who may enter which are listed in ``tests/unit/test_arrows.py``, which fails when an import breaks the rule.
Nothing happens at import time in any module of this package.
"""

__version__ = "0.1.0"
