"""The pilot's student on GAIA, and the gate between a run and the one that waits for it (runs.<name>.gate).

REQUIRED INPUTS: <results>/train/<student.mix>/MIX.json, <data>/sources/gaia/lock.json
OUTPUTS: <results>/<gate run>/student.json, <results>/evaluation_runs/<gate run>/metrics.json,
         <results>/<gate run>/pilot_gate.json, only when it was passed (else state/gate_failed.json),
         <results>/<run>/gate.json: by what right the run started
STATE (no output, outlives a failed job): <results>/evaluation_runs/<gate run>/private/
CONFIG: student, gate, runs.<name>.gate
ENVIRONMENT: STUDENT_URL, STUDENT_MODEL, STUDENT_API_KEY, SERPER_API_KEY

Without a GPU `train_student` and `evaluate_student` stop with exit code 2 and say what to run and put back.
"""

STUDENT_MIX = f"{RESULTS}/train/{config['student']['mix']}"


rule train_student:
    """Run the configured training command on the mix."""
    input:
        card=f"{STUDENT_MIX}/MIX.json",
    output:
        student=f"{RESULTS}/{{run}}/student.json",
    log:
        f"{RESULTS}/{{run}}/logs/train_student.log",
    conda:
        "../envs/tir-distill.yaml"
    params:
        mix=lambda wildcards: STUDENT_MIX,
        config=CONFIG,
    shell:
        "pilot_student.py train --config {params.config:q} --mix-dir {params.mix:q} --student {output.student:q} 2> {log:q}"


rule evaluate_student:
    """Run the student on GAIA validation."""
    input:
        student=f"{RESULTS}/{{run}}/student.json",
        card=ancient(f"{STUDENT_MIX}/MIX.json"),
        gaia=(
            f"{DATA}/sources/{config['evaluation']['gaia']['source']}/lock.json"
            if "gaia" in config["evaluation"]
            else []
        ),
        template=ancient(TEMPLATE),
    output:
        metrics=f"{RESULTS}/evaluation_runs/{{run}}/metrics.json",
    log:
        f"{RESULTS}/evaluation_runs/{{run}}/evaluate_student.log",
    conda:
        "../envs/tir-distill.yaml"
    params:
        sampling=config["sampling"],
        student={key: config["student"][key] for key in ("temperature", "samples")},
        mix=lambda wildcards: STUDENT_MIX,
        config=CONFIG,
    shell:
        "pilot_student.py evaluate --config {params.config:q} --mix-dir {params.mix:q} --student {input.student:q}"
        ' --gaia "$(dirname {input.gaia:q})" --out "$(dirname {output.metrics:q})" 2> {log:q}'


rule judge_student:
    """The gate: passed, or exit code 3 with the failing figure."""
    input:
        metrics=f"{RESULTS}/evaluation_runs/{{run}}/metrics.json",
    output:
        f"{RESULTS}/{{run}}/pilot_gate.json",
    log:
        f"{RESULTS}/{{run}}/logs/judge_student.log",
    conda:
        "../envs/tir-distill.yaml"
    params:
        gate={key: config["gate"][key] for key in ("min_self_search", "max_image_code")},
        code=tir.code_digest("evaluation"),
        config=CONFIG,
    shell:
        'pilot_gate.py judge --config {params.config:q} --run "$(dirname {input.metrics:q})" --out {output:q} 2> {log:q}'


rule open_gate:
    """By what right a run starts: the passed gate of another run, or a reason in the configuration."""
    input:
        gate=lambda wildcards: tir.gate_inputs(config, wildcards.run),
    output:
        f"{RESULTS}/{{run}}/gate.json",
    log:
        f"{RESULTS}/{{run}}/logs/open_gate.log",
    conda:
        "../envs/tir-distill.yaml"
    params:
        override=config["gate"]["override"],
        gate=lambda wildcards, input: tir.flag("--gate", str(input.gate) if input.gate else None),
        config=CONFIG,
    shell:
        "pilot_gate.py open --config {params.config:q} --run {wildcards.run:q} {params.gate} --out {output:q} 2> {log:q}"
