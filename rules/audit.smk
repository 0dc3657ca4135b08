"""The audit before training: exit code 3 when a row or a threshold fails, with the whole report kept.

REQUIRED INPUTS: <results>/<run>/accepted.jsonl, <results>/legacy/<name>_clean.jsonl, the files that a mix names,
    <handover>/eval_text_index.json
OUTPUTS, only when everything passed: <results>/<run>/audit.json, <results>/legacy/<name>_clean.audit.json,
    <results>/train/audits/<mix>/<part>.audit.json
STATE, the report of an audit that failed: <results>/<run>/state/audit_failed.json; beside the others, audit_failed.json
    in place of audit.json
CONFIG: audit, max_length, tokens, mixes
"""

AUDIT = (
    "check_distilled.py --config {params.config:q} --profile {params.profile} --in {input.rows:q}"
    " --img-root {params.row_root:q} --eval-index {input.index:q} --report {params.failed:q} 2> {log:q}"
    " && mv {params.failed:q} {output:q}"
)
"""What the rules below have in common: the report takes its name only when everything passed."""


rule audit_run:
    """Checks 1 to 6 of the hand-over note, and more, over every accepted row."""
    input:
        rows=f"{RESULTS}/{{run}}/accepted.jsonl",
        index=f"{HANDOVER}/eval_text_index.json",
        template=TEMPLATE,
    output:
        f"{RESULTS}/{{run}}/audit.json",
    log:
        f"{RESULTS}/{{run}}/logs/audit_run.log",
    benchmark:
        f"{RESULTS}/{{run}}/benchmarks/audit_run.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        profile="distilled",
        thresholds=config["audit"],
        max_length=config["max_length"],
        code=tir.code_digest("audit", "export"),
        row_root=lambda wildcards: RESULTS,
        failed=lambda wildcards: f"{RESULTS}/{wildcards.run}/state/audit_failed.json",
        config=CONFIG,
    shell:
        AUDIT


rule audit_legacy:
    """The same for cleaned legacy rows, by the profile made for them; no mix takes rows without it."""
    input:
        rows=f"{RESULTS}/legacy/{{legacy}}_clean.jsonl",
        index=f"{HANDOVER}/eval_text_index.json",
        template=TEMPLATE,
    output:
        f"{RESULTS}/legacy/{{legacy}}_clean.audit.json",
    log:
        f"{RESULTS}/legacy/logs/audit_legacy/{{legacy}}.log",
    benchmark:
        f"{RESULTS}/legacy/benchmarks/audit_legacy/{{legacy}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        profile="legacy_python",
        thresholds=config["audit"],
        max_length=config["max_length"],
        code=tir.code_digest("audit", "export"),
        row_root=lambda wildcards: RESULTS,
        failed=lambda wildcards: f"{RESULTS}/legacy/{wildcards.legacy}_clean.audit_failed.json",
        config=CONFIG,
    shell:
        AUDIT


rule audit_file:
    """The same for a part of a mix that is a plain file, by the profile its entry names (`any` when it names none)."""
    input:
        rows=lambda wildcards: tir.file_part(config, wildcards.mix, wildcards.part)["file"],
        index=f"{HANDOVER}/eval_text_index.json",
        template=TEMPLATE,
    output:
        f"{RESULTS}/train/audits/{{mix}}/{{part}}.audit.json",
    log:
        f"{RESULTS}/train/logs/audit_file/{{mix}}/{{part}}.log",
    benchmark:
        f"{RESULTS}/train/benchmarks/audit_file/{{mix}}/{{part}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        profile=lambda wildcards: tir.file_part(config, wildcards.mix, wildcards.part).get("audit", "any"),
        thresholds=config["audit"],
        max_length=config["max_length"],
        code=tir.code_digest("audit", "export"),
        row_root=lambda wildcards: tir.file_part(config, wildcards.mix, wildcards.part).get("images") or RESULTS,
        failed=lambda wildcards: f"{RESULTS}/train/audits/{wildcards.mix}/{wildcards.part}.audit_failed.json",
        config=CONFIG,
    shell:
        AUDIT
