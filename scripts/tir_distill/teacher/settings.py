"""Which teacher answers which question, and how it is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records import UsageError
from .redaction import without


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One served model: the same weights behind one or more addresses."""

    urls: tuple[str, ...]
    """Addresses that end in ``/v1``; several are replicas of one model."""
    model: str
    """The served model's name."""
    key_env: str
    """Name of the environment variable that holds the key. The key itself is never stored."""

    def without_key(self, text: str) -> str:
        """The text with this endpoint's key taken out: servers repeat a wrong key in their answer."""
        return without(os.environ.get(self.key_env, ""), text)

    def headers(self) -> dict[str, str]:
        """Request headers, the key read at this moment."""
        key = os.environ.get(self.key_env, "")
        return {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}


def refuse_unsendable(key_env: str, *, trimmed: bool = False) -> None:
    """Raise UsageError, without the key, when the variable holds a key that no HTTP header can carry.

    ``trimmed``: whoever sends it leaves out white space around it.
    """
    key = os.environ.get(key_env, "")
    key = key.strip() if trimmed else key
    if not all(" " <= letter <= "~" for letter in key):
        raise UsageError(
            f"{key_env}: the key holds a line end or a character that is not ASCII (a dash or a quotation mark that was"
            " pasted?); write it again"
        )


@dataclass(frozen=True, slots=True)
class EndpointNames:
    """Names of the environment variables that hold an endpoint's address, model and key."""

    url_env: str
    model_env: str
    key_env: str

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], default: EndpointNames | None = None) -> EndpointNames:
        """A part that is not named is taken from the default teacher."""

        def name(key: str) -> str:
            return str(row.get(key) or (getattr(default, key) if default else row[key]))

        return cls(name("url_env"), name("model_env"), name("key_env"))

    def resolve(self) -> Endpoint:
        """Read the environment. Raises UsageError naming the variable that is missing."""
        urls = tuple(part.strip().rstrip("/") for part in os.environ.get(self.url_env, "").split(",") if part.strip())
        if not urls:
            raise UsageError(
                f"{self.url_env} is not set: give the endpoint's address, e.g. {self.url_env}=http://host:8000/v1"
            )
        for url in urls:
            if "@" in url:  # not shown: it holds a password
                raise UsageError(f"{self.url_env}: an address with a user in it; give the key as {self.key_env}")
            if not url.startswith(("http://", "https://")):
                raise UsageError(f"{self.url_env}: {url!r} is no address; write it out, e.g. http://host:8000/v1")
        model = os.environ.get(self.model_env, "").strip()
        if not model:
            raise UsageError(f"{self.model_env} is not set: give the served model's name")
        refuse_unsendable(self.key_env)
        return Endpoint(urls=urls, model=model, key_env=self.key_env)


@dataclass(frozen=True, slots=True)
class TeacherSettings:
    """The ``teacher``, ``sampling`` and ``engine`` keys that a request is made from."""

    default: EndpointNames
    per_task_type: Mapping[str, EndpointNames]
    per_bucket: Mapping[str, EndpointNames]
    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 8192
    """Of one reply."""
    text_protocol: bool = False
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    request_timeout: float = 900.0
    """Seconds for one request, connecting included (seed section 9)."""
    attempts: int = 5
    """Tries of one request (seed section 12)."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TeacherSettings:
        teacher, sampling, engine = config["teacher"], config["sampling"], config["engine"]
        default = EndpointNames.from_dict(teacher)
        return cls(
            default=default,
            per_task_type={k: EndpointNames.from_dict(v, default) for k, v in teacher["per_task_type"].items()},
            per_bucket={k: EndpointNames.from_dict(v, default) for k, v in teacher["per_bucket"].items()},
            temperature=sampling["temperature"],
            top_p=sampling["top_p"],
            max_tokens=sampling["max_tokens"],
            text_protocol=sampling["text_protocol"],
            chat_template_kwargs=dict(sampling["chat_template_kwargs"]),
            request_timeout=engine["request_timeout"],
            attempts=engine["attempts"],
        )

    def names_for(self, *, task_type: str, bucket: str) -> EndpointNames:
        """A bucket's own teacher wins over its task type's, which wins over the default (seed section 4)."""
        return self.per_bucket.get(bucket) or self.per_task_type.get(task_type) or self.default
