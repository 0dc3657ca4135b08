"""Candidates of each bucket, fingerprints of each evaluation set, decontamination, selection, hand-over package.

REQUIRED INPUTS: <data>/sources/<source>/lock.json
OUTPUTS: <data>/questions/<bucket>.parquet, <data>/evaluation/<set>.parquet, <data>/decontaminated/<bucket>.parquet,
         <handover>/phase_10k.jsonl, phase_10k_pilot.jsonl, images/, eval_text_index.json, then images.tar, then
         MANIFEST.json; on demand <data>/contact_sheet.html
CONFIG: buckets, evaluation, decontamination, selection, seed
"""


rule read_questions:
    """Turn one bucket's upstream rows into candidates; set damaged rows aside with a reason."""
    input:
        lambda wildcards: f"{DATA}/sources/{config['buckets'][wildcards.bucket]['source']}/lock.json",
    output:
        table=f"{DATA}/questions/{{bucket}}.parquet",
        rejects=f"{DATA}/questions/{{bucket}}.rejects.jsonl",
        counts=f"{DATA}/questions/{{bucket}}.counts.json",
    log:
        f"{DATA}/logs/read_questions/{{bucket}}.log",
    benchmark:
        f"{DATA}/benchmarks/read_questions/{{bucket}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        reader=lambda wildcards: [config["buckets"][wildcards.bucket][key] for key in ("reader", "task_type")],
        answer_chars=config["selection"]["answer_chars"],
        flat=config["decontamination"]["flat_max_std"],
        code=tir.code_digest("sources"),
        images=f"{DATA}/images",
        config=CONFIG,
    shell:
        "read_questions.py --config {params.config:q} --bucket {wildcards.bucket:q}"
        ' --source-dir "$(dirname {input:q})" --images {params.images:q} --out {output.table:q} 2> {log:q}'


rule read_evaluation:
    """Fingerprints of one evaluation set: no readable text of it is written."""
    input:
        lambda wildcards: f"{DATA}/sources/{config['evaluation'][wildcards.set]['source']}/lock.json",
    output:
        table=f"{DATA}/evaluation/{{set}}.parquet",
        counts=f"{DATA}/evaluation/{{set}}.counts.json",
    log:
        f"{DATA}/logs/read_evaluation/{{set}}.log",
    benchmark:
        f"{DATA}/benchmarks/read_evaluation/{{set}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        reader=lambda wildcards: config["evaluation"][wildcards.set]["reader"],
        flat=config["decontamination"]["flat_max_std"],
        code=tir.code_digest("sources"),
        config=CONFIG,
    shell:
        "read_evaluation.py --config {params.config:q} --set {wildcards.set:q}"
        ' --source-dir "$(dirname {input:q})" --out {output.table:q} 2> {log:q}'


rule decontaminate:
    """Drop every candidate that is an evaluation item in picture or text, and say which."""
    input:
        questions=f"{DATA}/questions/{{bucket}}.parquet",
        evaluation=expand(f"{DATA}/evaluation/{{set}}.parquet", set=config["evaluation"]),
    output:
        kept=f"{DATA}/decontaminated/{{bucket}}.parquet",
        drops=f"{DATA}/decontaminated/{{bucket}}.drops.parquet",
    log:
        f"{DATA}/logs/decontaminate/{{bucket}}.log",
    benchmark:
        f"{DATA}/benchmarks/decontaminate/{{bucket}}.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        rules=config["decontamination"],
        code=tir.code_digest("questions"),
        config=CONFIG,
    shell:
        "decontaminate.py run --config {params.config:q} --questions {input.questions:q}"
        " --evaluation {input.evaluation:q} --out {output.kept:q} --drops {output.drops:q} 2> {log:q}"


rule select_questions:
    """Choose the questions by hash, mark the pilot, lay out their pictures."""
    input:
        kept=expand(f"{DATA}/decontaminated/{{bucket}}.parquet", bucket=BUCKETS),
        evaluation=expand(f"{DATA}/evaluation/{{set}}.parquet", set=config["evaluation"]),
    output:
        phase=f"{HANDOVER}/phase_10k.jsonl",
        pilot=f"{HANDOVER}/phase_10k_pilot.jsonl",
        index=f"{HANDOVER}/eval_text_index.json",
    log:
        f"{DATA}/logs/select_questions.log",
    benchmark:
        f"{DATA}/benchmarks/select_questions.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        seed=config["seed"],
        selection=config["selection"],
        buckets=lambda wildcards: {
            name: {key: config["buckets"][name][key] for key in ("priority", "count", "pilot", "task_type")}
            for name in BUCKETS
        },
        code=tir.code_digest("questions"),
        images=f"{DATA}/images",
        config=CONFIG,
    shell:
        "build_handover.py select --config {params.config:q} --buckets {input.kept:q}"
        " --evaluation {input.evaluation:q} --images {params.images:q}"
        ' --out "$(dirname {output.phase:q})" 2> {log:q}'


rule pack_pictures:
    """The picture archive: the same until another selection is made, whatever else is shipped."""
    input:
        phase=f"{HANDOVER}/phase_10k.jsonl",
    output:
        pictures=f"{HANDOVER}/images.tar",
        hashes=f"{DATA}/packed_pictures.json",
    log:
        f"{DATA}/logs/pack_pictures.log",
    benchmark:
        f"{DATA}/benchmarks/pack_pictures.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("questions/image_tar.py"),
    shell:
        'build_handover.py pictures --out "$(dirname {output.pictures:q})" --hashes {output.hashes:q} 2> {log:q}'


rule pack_handover:
    """Add what a teacher site needs to run it, and the manifest that says what everything is."""
    input:
        phase=f"{HANDOVER}/phase_10k.jsonl",
        pilot=f"{HANDOVER}/phase_10k_pilot.jsonl",
        index=f"{HANDOVER}/eval_text_index.json",
        pictures=f"{HANDOVER}/images.tar",
        hashes=f"{DATA}/packed_pictures.json",
        counts=expand(f"{DATA}/questions/{{bucket}}.counts.json", bucket=BUCKETS),
        kept=expand(f"{DATA}/decontaminated/{{bucket}}.parquet", bucket=BUCKETS),
        drops=expand(f"{DATA}/decontaminated/{{bucket}}.drops.parquet", bucket=BUCKETS),
        evaluation=expand(f"{DATA}/evaluation/{{set}}.counts.json", set=config["evaluation"]),
        locks=expand(f"{DATA}/sources/{{source}}/lock.json", source=tir.sources_of(config)),
    output:
        manifest=f"{HANDOVER}/MANIFEST.json",
    log:
        f"{DATA}/logs/pack_handover.log",
    benchmark:
        f"{DATA}/benchmarks/pack_handover.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        shipped=tir.shipped_digest(),
        config=CONFIG,
    shell:
        "build_handover.py pack --config {params.config:q} --hashes {input.hashes:q}"
        " --counts {input.counts:q} --kept {input.kept:q} --drops {input.drops:q}"
        " --evaluation {input.evaluation:q} --locks {input.locks:q}"
        ' --out "$(dirname {output.manifest:q})" 2> {log:q}'


rule contact_sheet:
    """On demand: dropped pictures beside the evaluation pictures that they met, for a person to look at."""
    input:
        questions=expand(f"{DATA}/questions/{{bucket}}.parquet", bucket=BUCKETS),
        drops=expand(f"{DATA}/decontaminated/{{bucket}}.drops.parquet", bucket=BUCKETS),
        locks=expand(f"{DATA}/sources/{{source}}/lock.json", source=tir.sources_of(config)),
    output:
        f"{DATA}/contact_sheet.html",
    log:
        f"{DATA}/logs/contact_sheet.log",
    benchmark:
        f"{DATA}/benchmarks/contact_sheet.jsonl"
    conda:
        "../envs/tir-distill.yaml"
    params:
        code=tir.code_digest("questions/contact_sheet.py"),
        images=f"{DATA}/images",
        config=CONFIG,
    shell:
        "contact_sheet.py --config {params.config:q} --questions {input.questions:q} --drops {input.drops:q}"
        ' --images {params.images:q} --sources "$(dirname "$(dirname {input.locks[0]:q})")"'
        " --out {output:q} 2> {log:q}"
