"""Named targets: what a person asks for. `snakemake --list-rules` shows them with these words."""


localrules:
    all,
    questions,
    audit,
    legacy,


rule all:
    """Everything that the configuration names (the default)."""
    input:
        f"{HANDOVER}/MANIFEST.json",
        expand(f"{RESULTS}/{{run}}/audit.json", run=RUNS),
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),


rule questions:
    """The hand-over package: questions, pictures, manifest."""
    input:
        f"{HANDOVER}/MANIFEST.json",


rule audit:
    """Every run, audited."""
    input:
        expand(f"{RESULTS}/{{run}}/audit.json", run=RUNS),


rule legacy:
    """Every legacy file, converted and cleaned."""
    input:
        expand(f"{RESULTS}/legacy/{{name}}_clean.jsonl", name=config["legacy"]),


for _run in RUNS:

    rule:
        name:
            _run  # pilot, full, demo, ...: a target per run, sampled to audited
        input:
            f"{RESULTS}/{_run}/audit.json",
        localrule: True
