"""tir-distill: raw data -> questions -> teacher trajectories in shards -> filtered, audited ms-swift rows.

The stages in order, one file each in rules/:

    sources     pinned files with a lock           <data>/sources/<id>/lock.json
    questions   candidates, fingerprints,          <data>/questions, evaluation, decontaminated
                decontamination, hand-over         <handover>/phase_10k.jsonl, images/, MANIFEST.json
    sampling    one job per shard, paid            <results>/<run>/shards/<bucket>/<nnnn>-of-<N>.trajectories.jsonl
    filtering   F1 to F11, repairs                 <results>/<run>/shards/<bucket>/<nnnn>-of-<N>.filtered.jsonl
    export      rows and statistics                <results>/<run>/accepted.jsonl, stats.json, ...
    audit       what may go into training          <results>/<run>/audit.json
    legacy      earlier data as native rows        <results>/legacy/<name>_native.jsonl, <name>_clean.jsonl
    train       mixes of all that                  <results>/train/<mix>/train.jsonl, MIX.json
    evaluation  the pilot's student, the gate      <results>/<run>/pilot_gate.json, <results>/evaluation_runs/
    report      a page to read, on request         <results>/report/index.html

Paths and every number come from config/config.yaml; `--configfile config/demo.yaml` lays the demo over it.
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/questions.smk"
include: "rules/sampling.smk"
include: "rules/filtering.smk"
include: "rules/export.smk"
include: "rules/audit.smk"
include: "rules/legacy.smk"
include: "rules/train.smk"
include: "rules/evaluation.smk"
include: "rules/report.smk"


localrules:
    all,
    questions,
    audit,
    legacy,
    smoke,
    top_up,
    report,


rule all:
    """Everything that the configuration names (the default)."""
    input:
        f"{HANDOVER}/MANIFEST.json",
        [tir.run_files(config, run) for run in RUNS],
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),
        expand(f"{RESULTS}/train/{{mix}}/MIX.json", mix=tir.mixes(config)),


rule questions:
    """The hand-over package: questions, pictures, manifest."""
    input:
        f"{HANDOVER}/MANIFEST.json",


rule audit:
    """Every run, audited."""
    input:
        [tir.run_files(config, run) for run in RUNS],


rule legacy:
    """Every legacy file, converted and cleaned."""
    input:
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),


rule smoke:
    """A few questions of each bucket, one sample each, in results/smoke: rows and statistics to look at (seed 9)."""
    input:
        f"{RESULTS}/{tir.SMOKE}/stats.json",


rule top_up:
    """More samples where the filters accepted nothing; afterwards start the run's own target again."""
    input:
        [f"{RESULTS}/{run}/state/top_up/{shard}.done" for run in RUNS for shard in tir.filtered_shards(config, run)],


rule report:
    """One page over the runs that stand finished: figures per rule and bucket, samples to read through."""
    input:
        f"{RESULTS}/report/index.html",


for _run in RUNS:

    rule:
        name:
            _run  # pilot, full, demo, ...: a target per run, sampled to audited
        input:
            tir.run_files(config, _run),
        localrule: True


if tir.gate_runs(config):

    rule pilot_student:
        """The pilot's student, trained on its mix and run on GAIA; exit code 2 says what to do without a GPU."""
        input:
            expand(f"{RESULTS}/evaluation_runs/{{run}}/metrics.json", run=tir.gate_runs(config)),
        localrule: True

    rule pilot_gate:
        """The gate that the full run waits for; exit code 3 names the failing figure."""
        input:
            expand(f"{RESULTS}/{{run}}/pilot_gate.json", run=tir.gate_runs(config)),
        localrule: True


onstart:
    start_workflow()


onsuccess:
    end_workflow(failed=False)


onerror:
    end_workflow(failed=True)
