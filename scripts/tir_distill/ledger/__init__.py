"""The ledger: every paid search counted once, every budget a hard wall.

Design notes.

*One lock, short transactions.* Every change runs under the database's single write lock, so a check and the
reservation that depends on it cannot be separated by another process. Row locks would allow more parallel writers than
a run of eight paid searches a second can use.

*A lease is the reservation.* The one entry that says "this process is fetching that query" also says whose budget it
is spoken for. So a dead owner's lease and its share of the budget return together, by one clock.

*Signs of life.* Leases last half a minute and are renewed by a thread, so a busy event loop keeps them. On one machine
a dead owner is recognised by its process id and start time and its leases return at once; a living one keeps them
however late its sign of life is. A lease counts against its budgets until it is given back (``ledger.leases``).
What may belong to a living process is given back only when half a lease has also passed, without a sign of life, by the
clock of the one who looks: a clock that jumps takes nothing from the living. Only a process on another machine, silent
for longer than that, can have one request under way beside its successor's; it is counted, and no request is written
for a lease that was lost.

*The door.* Time slot, stop flag and lease are looked at when the connection stands and the request is about to be
written, not when it was planned (``ledger.pacing``): what was true a second ago says nothing on a busy machine.

*Cut off.* A search that is cancelled after its request was written waits a few seconds for the answer, because it has
been paid for. A process that is killed cannot, and what it had under way is paid again.

*Durability.* SQLite runs in WAL mode with ``synchronous=NORMAL``: nothing is lost when a process dies; when the power
goes, the last moments may be, which re-buys those searches. PostgreSQL runs with ``synchronous_commit=off``, which
promises the same.

*Threads.* Transactions run in the ledger's own threads, never in the event loop (see ``ledger.ledger``); the plain
calls (``stop``, ``stopped``, ``settle_tokens``, totals) run where they are called and take well under a millisecond.

*Empty answers.* One empty result list is handed over but not believed; a second one is kept (``Fetched.doubtful``).

*Rate.* One slot is handed out per transaction, and each process holds at most one that lies ahead: the queue goes round
between processes whatever their number of conversations (``ledger.rate``).

*A lost database.* Every transaction that fails raises ``LedgerLost``, a resumable stop. What had been paid is tried
again for a while, then kept in a file and written down at the next start (``ledger.unrecorded``).
"""

from .keys import normalise_query, search_key
from .ledger import Door, Ledger
from .outcomes import (
    CapScope,
    Fetched,
    LedgerError,
    LedgerLost,
    RunTotals,
    SearchFault,
    SearchOutcome,
    StopFlag,
    TokensHeld,
)
from .owner import Caps, Owner
from .settings import LedgerSettings, ledger_url

__all__ = [
    "CapScope",
    "Caps",
    "Door",
    "Fetched",
    "Ledger",
    "LedgerError",
    "LedgerLost",
    "LedgerSettings",
    "Owner",
    "RunTotals",
    "SearchFault",
    "SearchOutcome",
    "StopFlag",
    "TokensHeld",
    "ledger_url",
    "normalise_query",
    "search_key",
]
