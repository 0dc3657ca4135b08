"""A local server that speaks the two hubs' HTTP APIs, with faults on demand, and small pictures and tables."""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from PIL import Image

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """One data set on a hub, and how its server misbehaves."""

    files: dict[str, bytes]
    repo: str = "owner/set"
    revisions: tuple[str, ...] = ("main", "master", COMMIT, COMMIT[:7])
    listing_status: int = 0
    """Answer every listing with this status."""
    file_status: int = 0
    """Answer every file request with this status."""
    error_code: str = ""
    """X-Error-Code of Hugging Face."""
    token: str = ""
    """Files are given only to requests with this token."""
    cut_at: int | None = None
    """Close the connection once a file's body has reached this offset."""
    stall: bool = False
    """At ``cut_at`` send nothing more, but keep the connection open."""
    lie: dict[str, bytes] = field(default_factory=dict)
    """Bodies that differ from what the listing promises (same length)."""
    hide_sha256: bool = False
    refuse_range: bool = False
    """Answer 416 to every request for a part of a file."""
    deep_listing: bool = False
    """Answer every listing with JSON that is nested too deep."""
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """(method, path, range)."""
    sent: dict[str, int] = field(default_factory=dict)
    """Body bytes sent per file."""
    url: str = ""
    reached_cut: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def heal(self) -> None:
        """Stop misbehaving, forget what was counted."""
        self.listing_status = self.file_status = 0
        self.cut_at, self.stall, self.lie, self.error_code = None, False, {}, ""
        self.requests.clear()
        self.sent.clear()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        hub = self.hub
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        path = unquote(url.path)
        hub.requests.append((self.command, path, self.headers.get("Range", "")))
        if match := re.fullmatch(r"/api/datasets/(.+?)/revision/(.+)", path):
            self._hf_listing(match[1], match[2])
        elif match := re.fullmatch(r"/datasets/(.+?)/resolve/([^/]+)/(.+)", path):
            self._file(match[3], body=body)
        elif match := re.fullmatch(r"/api/v1/datasets/(.+?)/repo/tree", path):
            self._ms_listing(match[1], query["Revision"][0])
        elif re.fullmatch(r"/api/v1/datasets/(.+?)/repo", path):
            self._file(query["FilePath"][0], body=body)
        else:
            self._error(404)

    def _error(self, status: int, code: str = "") -> None:
        data = json.dumps({"error": "no", "Code": status, "Message": "no"}).encode()
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _json(self, value: Any) -> None:
        data = b"[" * 200_000 if self.hub.deep_listing else json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _hf_listing(self, repo: str, revision: str) -> None:
        hub = self.hub
        if hub.listing_status:
            return self._error(hub.listing_status, hub.error_code)
        if repo != hub.repo:
            return self._error(404, "RepoNotFound")
        if revision not in hub.revisions:
            return self._error(404, "RevisionNotFound")
        siblings = []
        for name, data in hub.files.items():
            item: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": git_sha1(data)}
            if not hub.hide_sha256:
                digest = hashlib.sha256(data).hexdigest()
                item["lfs"] = {"size": len(data), "sha256": digest, "pointerSize": 100}
            siblings.append(item)
        return self._json(
            {"id": repo, "sha": COMMIT, "siblings": siblings, "tags": [], "cardData": {"license": "apache-2.0"}}
        )

    def _ms_listing(self, repo: str, revision: str) -> None:
        hub = self.hub
        if hub.listing_status:
            return self._error(hub.listing_status)
        if repo != hub.repo or revision not in hub.revisions:
            return self._error(404)
        files = [
            {
                "Path": name,
                "Size": len(data),
                "Type": "blob",
                "Sha256": "" if hub.hide_sha256 else hashlib.sha256(data).hexdigest(),
            }
            for name, data in hub.files.items()
        ]
        return self._json({"Code": 200, "Success": True, "Data": {"Files": files}})

    def _file(self, name: str, *, body: bool) -> None:
        hub = self.hub
        if hub.file_status:
            return self._error(hub.file_status, hub.error_code)
        if hub.token and hub.token not in self.headers.get("Authorization", "") + self.headers.get("Cookie", ""):
            return self._error(403, "GatedRepo")
        data = hub.lie.get(name, hub.files.get(name))
        if data is None:
            return self._error(404, "EntryNotFound")
        start = 0
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            start = int(match[1])
        if start and hub.refuse_range:
            return self._error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(hub.files[name]).hexdigest()}"')
        self.end_headers()
        if not body:
            return None
        end = len(data) if hub.cut_at is None else max(start, min(hub.cut_at, len(data)))
        self.wfile.write(data[start:end])
        self.wfile.flush()
        hub.sent[name] = hub.sent.get(name, 0) + end - start
        if end < len(data):
            hub.reached_cut.set()
            if hub.stall:
                hub.released.wait(30)
            self.close_connection = True
        return None


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub on a free port of this machine."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def picture(width: int = 64, height: int = 48, seed: int = 1) -> Image.Image:
    """A smooth RGB picture with structure, different for each seed."""
    import numpy as np

    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))
    return small.resize((width, height), Image.Resampling.BICUBIC)


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    """File bytes of a picture."""
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def parquet(rows: list[dict[str, Any]], schema: Any = None) -> bytes:
    """File bytes of a parquet table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), buffer)
    return buffer.getvalue()
