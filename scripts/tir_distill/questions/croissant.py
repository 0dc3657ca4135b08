"""``croissant.json``: the hand-over described for machines (Croissant 1.0, MLCommons).

Validated with ``mlcroissant`` in the tests, which also reads the records back through it. Written by hand because the
library would stamp it with the time of day and needs the files to be reachable while it writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .image_tar import FileHash
from .licences import SourceTerms

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

FIELDS = {
    "id": "Stable id of the question",
    "source": "Data set it was read from",
    "bucket": "Bucket of the hand-over",
    "priority": "P0, P1 or P2: the order of work",
    "phase": "pilot or full",
    "task_type": "image_search, text_search or image_reasoning",
    "question": "The question",
    "answer": "Reference answer",
    "candidate_answers": "Other accepted answers: a JSON list in a string",
    "images": "Paths of its pictures inside images.tar",
}
"""Columns of the question files and what they hold (seed section 1); ``meta`` is free-form and left out."""


def croissant(
    files: Mapping[str, FileHash], sources: Sequence[SourceTerms], *, name: str, description: str, version: str
) -> dict[str, Any]:
    """The document. ``files`` are the question files and the archive, by their names in the hand-over."""
    tables = [path for path in files if path.endswith(".jsonl")]
    licences = sorted({terms.licence for terms in sources if terms.use == "questions"})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "license": "Each source keeps its own licence: " + "; ".join(licences),
        "version": version,
        "isLiveDataset": False,
        "distribution": [
            *(_file(path, digest, _encoding(path)) for path, digest in files.items()),
            {
                "@type": "cr:FileSet",
                "@id": "images",
                "name": "images",
                "description": "Pictures of the questions",
                "containedIn": {"@id": "images.tar"},
                "encodingFormat": ["image/png", "image/jpeg"],
                "includes": "images/**/*",
            },
        ],
        "recordSet": [_record_set(path) for path in tables],
    }


def _encoding(path: str) -> str:
    return "application/jsonlines" if path.endswith(".jsonl") else "application/x-tar"


def _file(path: str, digest: FileHash, encoding: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{digest.size} B",
        "encodingFormat": encoding,
        "sha256": digest.sha256,
    }


def _record_set(path: str) -> dict[str, Any]:
    name = path.removesuffix(".jsonl")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": text,
                "dataType": "sc:Text",
                **({"repeated": True} if column == "images" else {}),
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, text in FIELDS.items()
        ],
    }
