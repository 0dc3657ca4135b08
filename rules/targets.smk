"""Named targets: what a person asks for. `snakemake --list-rules` shows them with these words."""


rule all:
    """Everything that the configuration names (the default)."""
    default_target: True
    input:
        f"{HANDOVER}/MANIFEST.json",
        expand(f"{RESULTS}/{{run}}/audit.json", run=RUNS),
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),
    localrule: True


rule questions:
    input:
        f"{HANDOVER}/MANIFEST.json",
    """The hand-over package: questions, pictures, manifest."""
    localrule: True


rule audit:
    input:
        expand(f"{RESULTS}/{{run}}/audit.json", run=RUNS),
    """Every run, audited."""
    localrule: True


rule legacy:
    input:
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),
    """Every legacy file, converted and cleaned."""
    localrule: True


for _run in RUNS:

    rule:
        name:
            _run  # pilot, full, demo, ...: a target per run, sampled to audited
        input:
            f"{RESULTS}/{_run}/audit.json",
        localrule: True
