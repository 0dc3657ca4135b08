"""The configuration: defaults, one or more files over them, checked against a JSON Schema.

``config/config.yaml`` holds a value for every key, so a file given by the user may name only what differs. Snakemake
merges in the same way, and hands its result to the scripts as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .records.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds config/, resources/ and scripts/."""

SCHEMA = ROOT / "resources" / "schemas" / "config.schema.json"
MAY_BE_SECRET = re.compile(r"KEY|SECRET|PASSWORD|TOKEN(?!S)")
DEFAULTS = ROOT / "config" / "config.yaml"


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``over`` laid upon ``base``: mappings are joined key by key, anything else is replaced."""
    out = dict(base)
    for key, value in over.items():
        known = out.get(key)
        out[key] = merge(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return out


def read(path: Path) -> dict[str, Any]:
    """Parse one YAML or JSON file. Raises UsageError when it is missing, no YAML, or no mapping."""
    import yaml

    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such configuration file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read as a configuration file ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not YAML ({error})") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: expected keys and values at the top, found {type(value).__name__}")
    return value


def validate(config: Mapping[str, Any], name: str = "configuration") -> None:
    """Raise UsageError that lists every wrong key by its path, with what was expected."""
    import jsonschema
    import orjson

    validator = jsonschema.Draft202012Validator(orjson.loads(SCHEMA.read_bytes()))
    problems = sorted(validator.iter_errors(config), key=lambda error: list(map(str, error.absolute_path)))
    if problems:
        lines = [f"  {_place(p)}: {_said(p)}" for p in problems[:20]]
        raise UsageError("\n".join([f"{name}: {len(problems)} wrong value(s); see config/README.md", *lines]))
    _check_meaning(config, name)


def _place(problem: Any) -> str:
    """Dotted path of a wrong value; for a key that does not exist, the path of that key."""
    path = [str(part) for part in problem.absolute_path]
    if problem.validator == "additionalProperties" and isinstance(problem.instance, Mapping):
        unknown = [key for key in problem.instance if key not in problem.schema.get("properties", {})]
        if len(unknown) == 1:
            path.append(str(unknown[0]))
    return ".".join(path) or "(top)"


def _said(problem: Any) -> str:
    """What is wrong; the value itself stays out of it where somebody may have written a key in place of its name."""
    written = " ".join([*map(str, problem.absolute_path), repr(problem.instance)]).upper()
    if problem.validator == "additionalProperties" or not MAY_BE_SECRET.search(written):
        return str(problem.message)
    if problem.validator == "pattern" and str(problem.absolute_path[-1]).endswith("_env"):
        return "expected the name of an environment variable in capitals (keys are never written into a file)"
    return f"expected {problem.validator} {problem.validator_value!r} (the value is not shown: it may be a key)"


def _check_meaning(config: Mapping[str, Any], name: str) -> None:
    """What a schema cannot say: names that point to other names."""
    sets = config["sources"]["sets"]
    for section in ("buckets", "evaluation"):
        for key, entry in config[section].items():
            if entry["source"] not in sets:
                raise UsageError(
                    f"{name}: {section}.{key}.source is {entry['source']!r}; expected one of {sorted(sets)}"
                )
    runs = {key: entry for key, entry in config["runs"].items() if entry is not None}
    for key, entry in runs.items():
        for other in [*entry["adopt"], *([entry["gate"]] if entry["gate"] else [])]:
            if other not in runs:
                raise UsageError(f"{name}: runs.{key} names the run {other!r}; expected one of {sorted(runs)}")
    if any(entry["gate"] for entry in runs.values()) and not config["mixes"].get(config["student"]["mix"]):
        mix = config["student"]["mix"]
        raise UsageError(f"{name}: student.mix is {mix!r}, which is no mix, but a run waits for a gate")
    for key, entry in config["mixes"].items():
        parts = [part.get("run") or part.get("legacy") or part["name"] for part in (entry or {"parts": []})["parts"]]
        if twice := sorted({part for part in parts if parts.count(part) > 1}):
            raise UsageError(f"{name}: mixes.{key}.parts has more than one part with the name {twice[0]!r}")
    fill = config["selection"]["fill"]
    if fill is not None and fill not in config["buckets"]:
        raise UsageError(f"{name}: selection.fill is {fill!r}; expected one of {sorted(config['buckets'])}")


def load(*paths: Path) -> dict[str, Any]:
    """Defaults, then each file over them, then checked. Raises UsageError with the key's path."""
    config = read(DEFAULTS)
    for path in paths:
        config = merge(config, read(path))
    validate(config, " + ".join(map(str, paths)) or str(DEFAULTS))
    return config
