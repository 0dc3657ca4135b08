"""Which addresses may be connected to, checked where the connection is made.

Text checks on a URL fail: resolvers take ``2130706433``, ``0x7f.1`` and ``127.1`` for 127.0.0.1, names can point
anywhere and change between check and use. So the network layer of the HTTP client resolves, checks every address that
it got, and connects to a checked one; the name is kept for Host and TLS.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import unquote

import httpcore

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[list[str]]]

_REFUSED = [
    ipaddress.ip_network(text)
    for text in (
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "168.63.129.16/32",  # a cloud's metadata service on a public address
        "fec0::/10",  # site-local, deprecated, still routed inside some networks
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "100::/64",  # discard
    )
]
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.ip_network("::/96")


class Refused(Exception):
    """This address is not opened; the text says why in words for the model."""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the open Internet. Addresses that wrap an IPv4 address are judged by it as well.

    ``is_private`` alone would let 100.64.0.0/10 through, ``is_global`` alone multicast and the wrapped ones.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None or address in _COMPATIBLE or any(address in network for network in _NAT64):
            return False
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None or address.teredo is not None:
            return False
    if any(address.version == network.version and address in network for network in _REFUSED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified


async def resolve(host: str, port: int) -> list[str]:
    """All addresses of a name, by the system's resolver. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class VettedBackend(httpcore.AsyncNetworkBackend):
    """Network backend of an httpcore pool: connects to public addresses on allowed ports only."""

    def __init__(
        self,
        *,
        ports: Iterable[int] = (80, 443),
        resolver: Resolver = resolve,
        allow: Callable[[Address], bool] = is_public,
        inner: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._ports, self._resolver, self._allow = frozenset(ports), resolver, allow
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises Refused, or what the inner backend raises."""
        if port not in self._ports:
            raise Refused(f"port {port} is not allowed")
        try:
            found = await self._resolver(host.strip("[]"), port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("its name cannot be resolved") from error
        try:
            addresses = [ipaddress.ip_address(item) for item in found]
        except ValueError:
            raise Refused("it points to an address that is not on the public Internet") from None
        # one private address among public ones is enough to refuse: which one would be used is up to the server
        if not addresses or not all(self._allow(address) for address in addresses):
            raise Refused("it points to an address that is not on the public Internet")
        for position, address in enumerate(found[:3]):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout=timeout, local_address=local_address, socket_options=socket_options
                )
            except httpcore.ConnectError:
                if position == len(found[:3]) - 1:
                    raise
        raise httpcore.ConnectError("no address could be reached")

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Never."""
        raise Refused("local sockets are not opened")

    async def sleep(self, seconds: float) -> None:
        """Between retries of the pool."""
        await asyncio.sleep(seconds)


class BlockList:
    """Addresses that must not be opened because they hold evaluation data (seed section 5, F2)."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]

    def matches(self, url: str) -> bool:
        """Also in percent-encoded spelling."""
        forms = {url, unquote(url), unquote(unquote(url))}
        return any(pattern.search(form) for pattern in self._patterns for form in forms)
