"""The audit before training: exit code 3 when a row or a threshold fails, with the whole report kept.

REQUIRED INPUTS: <results>/<run>/accepted.jsonl, <handover>/eval_text_index.json
OUTPUTS: <results>/<run>/audit.json, only when everything passed; the report of a failed audit is
         <results>/<run>/state/audit_failed.json
CONFIG: audit, max_length, tokens
"""


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
        thresholds=config["audit"],
        max_length=config["max_length"],
        code=tir.code_digest("audit", "export"),
        row_root=lambda wildcards: RESULTS,
        failed=lambda wildcards: f"{RESULTS}/{wildcards.run}/state/audit_failed.json",
        config=CONFIG,
    shell:
        "check_distilled.py --config {params.config:q} --in {input.rows:q} --img-root {params.row_root:q}"
        " --eval-index {input.index:q} --report {params.failed:q} 2> {log:q}"
        " && mv {params.failed:q} {output:q}"
