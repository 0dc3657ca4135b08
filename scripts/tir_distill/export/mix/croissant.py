"""``croissant.json`` of a mix (Croissant 1.0): its files, and the columns of the training rows as parquet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .card import description

TYPES = {"n_samples": "sc:Integer", "has_self_search": "sc:Boolean", "has_image_code": "sc:Boolean"}
FIELDS = {
    "id": "Id of the row; a further copy of a row ends in ~ and its number",
    "messages": "The conversation, as JSON text",
    "images": "Path of the picture of each <image> tag, in order",
    "tools": "Schemas of the tools, as JSON text",
    "source": "Data set that the question is from",
    "bucket": "Bucket of the question",
    "task_type": "image_search, text_search, image_reasoning, or empty where none is stated",
    "teacher": "Model that wrote the conversation",
    "n_samples": "Samples taken of the question",
    "judge_model": "Who decided that the answer is right",
    "has_self_search": "The model searched by itself",
    "has_image_code": "The model ran code on a picture",
    "answer": "Reference answer",
    "licence": "Licence of the source",
    "part": "Part of the mix",
}
_ENCODING = {"jsonl": "application/jsonlines", "parquet": "application/x-parquet"}


def croissant(document: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The document. ``context``: the JSON-LD context of Croissant 1.0, given by the command."""
    licences = sorted({entry["licence"] for entry in document["licences"]})
    return {
        "@context": dict(context),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"mix_{document['name']}",
        "description": description(document),
        "license": "Each row keeps the licence of its source: " + "; ".join(licences),
        "version": "1.0.0",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{entry['bytes']} B",
                "encodingFormat": _ENCODING[name.rpartition(".")[2]],
                "sha256": entry["sha256"],
            }
            for name, entry in document["files"].items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "train",
                "name": "train",
                "key": {"@id": "train/id"},
                "field": [_field(column, text) for column, text in FIELDS.items()],
            }
        ],
    }


def _field(column: str, text: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"train/{column}",
        "name": column,
        "description": text,
        "dataType": TYPES.get(column, "sc:Text"),
        **({"repeated": True} if column == "images" else {}),
        "source": {"fileObject": {"@id": "train.parquet"}, "extract": {"column": column}},
    }
