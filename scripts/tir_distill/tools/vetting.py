"""Which addresses may be connected to, checked where the connection is made.

Text checks on a URL fail: resolvers take ``2130706433``, ``0x7f.1`` and ``127.1`` for 127.0.0.1, names can point
anywhere and change between check and use. So the network layer of the HTTP client resolves, checks every address that
it got, and connects to a checked one; the name is kept for Host and TLS.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[list[str]]]

_REFUSED = [
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24",  # protocol assignments; a cloud's metadata service sits at .192
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


CONTROL_NAME = "example.com"
"""Looked up when a name gives a passing failure: whether it is the name or our resolver that does not work."""


class ResolverDown(Exception):
    """No name can be looked up at present: our side, neither the model's nor the page's."""


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
        pause_s: float = 1.0,
    ) -> None:
        """``pause_s``: before a name is looked up once more."""
        self._ports, self._resolver, self._allow = frozenset(ports), resolver, allow
        self._inner, self._pause_s = inner or httpcore.AnyIOBackend(), pause_s

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises Refused, ResolverDown, or what the inner backend raises."""
        if port not in self._ports:
            raise Refused(f"port {port} is not allowed")
        found = await self._look_up(host.strip("[]"), port)
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

    async def _look_up(self, host: str, port: int) -> list[str]:
        """Addresses of a name, tried twice when the failure may pass.

        The same passing failure comes from a resolver that is down and from a domain whose own servers are broken. Only
        the first is ours: a question must not be put aside because the model named a dead domain.
        """
        for last in (False, True):
            try:
                return await self._resolver(host, port)
            except (OSError, UnicodeError) as error:
                if not _may_pass(error):
                    raise httpcore.ConnectError("its name cannot be resolved") from error
                if last and not await self._resolver_works():
                    raise ResolverDown("names cannot be looked up at present") from error
            await asyncio.sleep(0 if last else self._pause_s)
        raise httpcore.ConnectError("its name cannot be resolved")

    async def _resolver_works(self) -> bool:
        try:
            await self._resolver(CONTROL_NAME, 443)
        except (OSError, UnicodeError) as error:
            return not _may_pass(error)
        return True

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Never."""
        raise Refused("local sockets are not opened")

    async def sleep(self, seconds: float) -> None:
        """Between retries of the pool."""
        await asyncio.sleep(seconds)


def _may_pass(error: OSError | UnicodeError) -> bool:
    """A failure of looking up, as opposed to the answer that there is no such name."""
    return isinstance(error, socket.gaierror) and error.errno in (socket.EAI_AGAIN, socket.EAI_SYSTEM)
