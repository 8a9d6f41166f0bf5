"""Python objects whose memory the library uses. They are let go by Python, when the library has said so.

The library's release callback may come from any thread, without the interpreter's lock, or after the interpreter is
gone. So it is a C function that notes a number; here the objects are kept by number, and let go when numbers are looked
at: whenever an image dies or is made of an array, at garbage collections, and in collect().
"""

from __future__ import annotations

import gc
import itertools
from ctypes import c_uint64, c_void_p
from typing import Any

from ._library import address_of, check, library

RELEASE = address_of(library.cc_release_to_queue)

_AT_ONCE = 64
_Tokens = c_uint64 * _AT_ONCE

_owners: dict[int, Any] = {}
_numbers = itertools.count(1)
_take = library.cc_release_queue_take
_give_back = library.cc_release_to_queue


def _make_queue() -> int:
    queue = c_void_p()
    check(library.cc_release_queue_create(queue))
    return queue.value or 0


_queue = _make_queue()


def keep(owner: Any) -> int:
    """Keeps an object until the library releases the ticket that this returns: user_data for RELEASE."""
    collect()
    number = next(_numbers)
    ticket = c_void_p()
    check(library.cc_release_queue_add(_queue, number, ticket))
    _owners[number] = owner
    return ticket.value or 0


def drop(ticket: int) -> None:
    """For a ticket that the library did not take."""
    _give_back(None, ticket)
    collect()


def collect() -> int:
    """Lets go of objects whose memory the library does not use any more; says how many."""
    done = 0
    if not _owners:
        return 0
    tokens = _Tokens()
    while True:
        count: int = _take(_queue, _AT_ONCE, tokens)
        for token in tokens[:count]:
            _owners.pop(token, None)
        done += count
        if count < _AT_ONCE:
            return done


def kept() -> int:
    """How many objects are kept."""
    return len(_owners)


def _at_collection(phase: str, info: Any) -> None:
    if phase == "stop" and _owners:
        collect()


gc.callbacks.append(_at_collection)
