"""Names and helpers that all stages share. Logic lives in scripts/tir_distill/workflow.py."""

import sys
from pathlib import Path

HOME = Path(workflow.basedir)
sys.path.insert(0, str(HOME / "scripts"))

from tir_distill import workflow as tir

tir.put_commands_on_path(HOME / "scripts")
tir.mirror_from_environment(config)
tir.check_configuration(config)

RESULTS = config["paths"]["results"]
DATA = config["paths"]["data"]
HANDOVER = config["paths"]["handover"]
STATE = config["paths"]["state"]
CONFIG = f"{STATE}/config.json"
TEMPLATE = tir.template_input(config)
RUNS = tir.runs(config)
BUCKETS = tir.selected_buckets(config)
SAMPLED = tir.sampled_runs(config)
RUN_DIRS = [Path(RESULTS) / run for run in SAMPLED]
TERMINATION = tir.Termination(config)
EMBEDDED = []  # the demo servers of this workflow, when there are any


wildcard_constraints:
    source="[a-z][a-z0-9_]*",
    bucket="|".join(config["buckets"]),
    set="|".join(config["evaluation"]),
    run="|".join(SAMPLED),
    legacy="[a-z][a-z0-9_]*",
    mix="[a-z][a-z0-9_]*",
    index=r"\d{4}",
    shards=r"\d{4}",


def start_workflow():
    """Keep the merged configuration, take away old stop marks, start the embedded servers of a demo."""
    tir.write_resolved(config, Path(CONFIG))
    for run_dir in RUN_DIRS:
        tir.Marks(run_dir).clear()
    if unset := tir.unset_variables(config):
        print(f"tir-distill: sampling will ask for {', '.join(unset)}: not in the environment or .env", file=sys.stderr)
    tir.clear_stop_flags(config)
    TERMINATION.install()
    if config["demo"] and config["demo"]["serve"]:
        EMBEDDED.append(tir.DemoServers.start(config, Path(STATE)))


def end_workflow(failed):
    """Stop the embedded servers; after a failure leave with the exit code that says what happened."""
    while EMBEDDED:
        EMBEDDED.pop().stop()
    tir.forget_retries(RUN_DIRS)
    if not failed:
        print("\n".join(f"tir-distill: {line}" for line in tir.closing_words(config)), file=sys.stderr)
    else:
        code, reason = tir.exit_code_after_failure(RUN_DIRS, terminated=TERMINATION.received)
        print(f"tir-distill: {reason}", file=sys.stderr)
        sys.exit(int(code))


def shards_of(pattern):
    """An input function: the pattern filled with every shard of the wildcard's run."""
    return lambda wildcards: [
        pattern.format(run=wildcards.run, shard=shard) for shard in tir.shard_names(config, wildcards.run)
    ]
