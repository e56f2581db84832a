"""Evidence looked at, one piece at a time, and the bundle of a run. Every request asks for the viewer's right again.

What is shown is compared with the result while it is read. A download that turns out to differ breaks off before its
last bytes, so that no complete file is ever anything else than what was sealed.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import structlog
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from taugrid_portal.access import access
from taugrid_portal.errors import Failure, failure
from taugrid_portal.evidence import signing_key, stores
from taugrid_portal.request import PortalRequest

from ..evidence.bundle import Bundle
from ..evidence.locating import Piece
from ..evidence.stores import Body, Missing, Refused, StoreError
from ..evidence.text import AT_ONCE, is_shown, read_text
from ..queries import evidence as queries
from ..queries.evidence import Listed, RunEvidence
from .rendering import page, sources_of

SMALL = 1024**2
# Evidence is what a workload wrote: a browser may save it and nothing else, even where it is opened in a tab.
_HARMLESS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
    "Accept-Ranges": "bytes",
}
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
log = structlog.get_logger("audit")


@require_safe
def shown(request: PortalRequest, uid: str, name: str) -> HttpResponse:
    """One piece: what is known of it, and its lines where it is text."""
    known = sources_of(request)
    run, piece = _found(request, uid, name)
    query = request.GET.get("q", "").strip()[:200]
    context: dict[str, Any] = {"run": run, "piece": piece, "query": query, "at_once": AT_ONCE}
    context["is_shown"] = is_shown(piece.item.media_type)
    if context["is_shown"]:
        try:
            context["text"] = read_text(stores(), piece.item, run.place, query)
            _note(request, run, name, "view", context["text"].difference or "same")
        except StoreError as error:
            context["problem"] = str(error)
            _note(request, run, name, "view", str(error))
    return page(request, "checks/evidence.html", "checks", known, context)


@require_safe
def content(request: PortalRequest, uid: str, name: str) -> HttpResponseBase:
    """The exact bytes, as a file to be saved. Takes one range; the bytes of a part cannot be compared."""
    run, piece = _found(request, uid, name)
    size = piece.item.size_bytes
    asked = _range(request.headers.get("Range", ""), size, f'"{piece.item.sha256}"', request.headers.get("If-Range"))
    if asked is None:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    start, end = asked
    is_part = (start, end) != (0, size)
    try:
        body = stores().open(piece.item, run.place, *((start, end) if is_part else ()))
    except StoreError as error:
        _note(request, run, name, "download", str(error))
        return unreadable(request, error)
    if body.size != size:
        body.close()
        _note(request, run, name, "download", "another size")
        return failure(request, _differs(f"It has {body.size} bytes, the result says {size}."))

    def note(outcome: str) -> None:
        _note(request, run, name, "download", outcome)

    sent = _part(body, note) if is_part else checked(body, piece.item.sha256, note)
    if not is_part and size <= SMALL:
        data = b"".join(sent)
        if len(data) != size:
            return failure(request, _differs("Its sha256 is not the one in the result, or reading it broke off."))
        sent = iter([data])
    response = StreamingHttpResponse(sent, status=206 if is_part else 200, content_type="application/octet-stream")
    for header, value in _HARMLESS.items():
        response.headers[header] = value
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(run, piece)}"'
    response.headers["Content-Length"] = str(end - start)
    response.headers["ETag"] = f'"{piece.item.sha256}"'
    if is_part:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


@require_safe
def bundle(request: PortalRequest, uid: str) -> HttpResponseBase:
    """Everything of one run as one archive, made while it is sent. The right is asked again for each piece."""
    run = queries.of_run(request.scope, sources_of(request), uid) if "\0" not in uid else None
    if run is None:
        raise Http404

    def opened(piece: Piece) -> Body:
        if not access().scope(request.viewer).may_read(run.cluster, run.namespace):
            raise Refused("the right to read it has ended")
        return stores().open(piece, run.place)

    made = Bundle(run.spec, run.envelope, [piece.item for piece in run.pieces], opened, signing_key())

    def sent() -> Iterator[bytes]:
        try:
            yield from made.chunks()
        finally:
            for name, outcome in made.outcomes.items():
                _note(request, run, name, "bundle", outcome)

    response = StreamingHttpResponse(sent(), content_type="application/x-tar")
    for header, value in _HARMLESS.items():
        response.headers[header] = value
    del response.headers["Accept-Ranges"]
    response.headers["Content-Disposition"] = f'attachment; filename="{made.name}.tar"'
    return response


def _found(request: PortalRequest, uid: str, name: str) -> tuple[RunEvidence, Listed]:
    """The piece, or the one answer for everything that is not there or may not be seen."""
    run = queries.of_run(request.scope, sources_of(request), uid) if "\0" not in uid + name else None
    piece = run.piece(name) if run else None
    if run is None or piece is None:
        raise Http404
    return run, piece


def checked(body: Body, sha256: str, note: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes, the last chunk only once all of them are known to be the right ones. note: told how it ended."""
    digest, held, outcome = hashlib.sha256(), b"", "broken off by the reader"
    try:
        for chunk in body.chunks:
            digest.update(chunk)
            if held:
                yield held
            held = chunk
        outcome = "same" if digest.hexdigest() == sha256 else "another sha256"
        if outcome == "same":
            yield held
    except StoreError as error:
        outcome = str(error)
    finally:
        body.close()
        note(outcome)


def _part(body: Body, note: Callable[[str], None]) -> Iterator[bytes]:
    outcome = "a part"
    try:
        yield from body.chunks
    except StoreError as error:
        outcome = str(error)
    finally:
        body.close()
        note(outcome)


def _range(said: str, size: int, etag: str, if_range: str | None) -> tuple[int, int] | None:
    """Start and end of what is asked for; everything where no single range is; None where it lies outside."""
    found = _RANGE.fullmatch(said)
    if not found or found[1] == found[2] == "" or (if_range is not None and if_range != etag):
        return 0, size
    if found[1] == "":
        start, end = max(0, size - int(found[2])), size
    else:
        start, end = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
    return (start, end) if start < end else None


def _file_name(run: RunEvidence, piece: Listed) -> str:
    """A name from what the contract allows only: it is a header, and a file on somebody's disk."""
    words = re.sub(r"[^A-Za-z0-9._-]", "", f"{run.place.run or run.place.run_uid}-{piece.item.name}")
    return f"{words.lstrip('.')}.bin" if not is_shown(piece.item.media_type) else f"{words.lstrip('.')}.txt"


def _differs(sentence: str) -> Failure:
    return Failure(409, "evidence_mismatch", "This is not what was sealed", f"{sentence} So it is not handed out.")


def unreadable(request: HttpRequest, error: StoreError) -> HttpResponse:
    """Why a piece cannot be read; nothing of the store is shown but the sentence."""
    if isinstance(error, Missing):
        return failure(request, Failure(410, "evidence_missing", "The evidence is gone", f"{_sentence(error)}."))
    if isinstance(error, Refused):
        return failure(
            request, Failure(409, "evidence_refused", "The portal does not read this", f"{_sentence(error)}.")
        )
    told = Failure(502, "evidence_unavailable", "The evidence cannot be read", f"{_sentence(error)}.", retryable=True)
    return failure(request, told)


def _sentence(error: StoreError) -> str:
    return str(error)[:1].upper() + str(error)[1:]


def _note(request: PortalRequest, run: RunEvidence, name: str, how: str, outcome: str) -> None:
    """One line of the audit log: who read what, and how it went."""
    log.info(
        "evidence_read",
        viewer=request.viewer.username,
        cluster=run.cluster,
        namespace=run.namespace,
        run=run.place.run_uid,
        evidence=name,
        how=how,
        outcome=outcome,
    )
