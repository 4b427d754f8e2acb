"""The web server of the labelling page: what each address answers."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from mixkern.errors import JournalError, MixkernError
from mixkern.labelling.access import Access
from mixkern.labelling.cards import Cards
from mixkern.labelling.journal import Action
from mixkern.labelling.session import Answer, checked_user, source_again
from mixkern.web.guard import OTHER_PAGE, Guard, error_handlers

PAGE = Path(__file__).parent / "page"
MOST_CARDS = 50
LOG_IN_S = 1.0  # waited for after a wrong password
COOKIE_S = 30 * 24 * 3600
GONE = "This table has no such row any more, or has it with other cells."

_templates = Environment(loader=FileSystemLoader(PAGE), autoescape=True)


def label_app(cards: Cards, access: Access) -> Any:
    """Return the ASGI application of a session.

    Parameters
    ----------
    cards : Cards
        What the page shows.
    access : Access
        Who may use it.
    """
    pages, api = _Pages(cards, access), _Api(cards, access)
    routes = [
        Route("/", pages.index),
        Route("/login", pages.login, methods=["GET", "POST"]),
        Route("/api/state", api.state),
        Route("/api/next", api.next_cards),
        Route("/api/rows/{row}", api.card),
        Route("/api/answers", api.answers, methods=["POST"]),
        Route("/api/undo", api.undo, methods=["POST"]),
        Route("/api/history", api.history),
        Route("/api/doubts", api.doubts),
        Route("/api/disagreements", api.disagreements),
        Route("/api/classes", api.classes, methods=["POST"]),
        Route("/api/rename", api.rename, methods=["POST"]),
        Route("/api/component", api.component, methods=["POST"]),
        Route("/api/selection", api.selection, methods=["POST"]),
        Route("/api/map", api.map),
        Route("/api/predictions", api.predictions),
        Route("/api/cell", api.cell),
        Mount("/static", StaticFiles(directory=PAGE / "static")),
    ]
    handlers = {**error_handlers(), MixkernError: _refuse}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access.address)


def _refuse(_request: Request, error: Exception) -> Response:
    status = 503 if isinstance(error, JournalError) else 400  # a full disk may have room later: the page tries again
    return JSONResponse({"error": str(error)}, status_code=status)


class _Pages:
    """The page itself, and the page on which persons log in."""

    def __init__(self, cards: Cards, access: Access) -> None:
        self._cards, self._access = cards, access
        self._one_by_one = asyncio.Lock()
        path = str(cards.session.journal.path.resolve())
        self._journal = hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()

    async def index(self, request: Request) -> Response:
        """Show the page; a token in the address becomes a cookie."""
        access = self._access
        token = request.query_params.get("token")
        if token is not None and not access.password and access.user_of(token) is not None:
            return self._welcome(token)
        user = access.user_of(request.cookies.get(access.cookie, ""))
        if user is None:
            if access.password:
                return RedirectResponse("/login", status_code=303)
            text = "Open the address that mixkern label has printed: it ends with a token."
            return HTMLResponse(f"<!doctype html><title>mixkern label</title><p>{text}</p>", status_code=401)
        table = self._cards.table
        facts = {"table": table.name, "target": table.target, "user": user, "version": version("mixkern")}
        page = _templates.get_template("index.html")
        return HTMLResponse(page.render(**facts, digest=table.digest, journal=self._journal))

    async def login(self, request: Request) -> Response:
        """Ask for name and password, and check them."""
        if not self._access.password:
            return RedirectResponse("/", status_code=303)
        error, status = "", 200
        if request.method == "POST":
            body = await request.body()
            async with self._one_by_one:  # many guesses at once are no quicker
                token = self._token(body.decode("utf-8", "replace"))
                if token is not None:
                    return self._welcome(token)
                await asyncio.sleep(LOG_IN_S)
            error, status = "The name or the password is wrong.", 403
        return HTMLResponse(_templates.get_template("login.html").render(error=error), status_code=status)

    def _token(self, body: str) -> str | None:
        """Return the cookie of a person whose name and password are right."""
        try:
            form = parse_qs(body, max_num_fields=4)
            name = checked_user(form.get("user", [""])[0])
        except (MixkernError, ValueError):
            return None
        return self._access.log_in(name, form.get("password", [""])[0])

    def _welcome(self, token: str) -> Response:
        answer = RedirectResponse("/", status_code=303)
        # Not strict: a link on another page, such as a notebook, would lead to a page without the cookie.
        answer.set_cookie(self._access.cookie, token, max_age=COOKIE_S, httponly=True, samesite="lax")
        return answer


class _Api:
    """What the page asks for and sends, as JSON; each call runs in a thread."""

    def __init__(self, cards: Cards, access: Access) -> None:
        self._cards, self._session, self._access = cards, cards.session, access

    def _user(self, request: Request) -> str:
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise HTTPException(403, f"{OTHER_PAGE}.")  # reads, too: the next card reserves its row
        user = self._access.user_of(request.cookies.get(self._access.cookie, ""))
        if user is None:
            raise HTTPException(401, "Open the address that mixkern label has printed, or log in again.")
        return user

    async def _posted(self, request: Request, **kinds: Any) -> dict[str, Any]:
        """Return the fields of a JSON body, each of its type."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise HTTPException(415, "The body must be JSON.")
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise HTTPException(400, "The body is no JSON.") from None
        if not isinstance(body, dict) or any(not isinstance(body.get(name), kind) for name, kind in kinds.items()):
            raise HTTPException(400, f"The body must be an object with {', '.join(kinds)}.")
        return body

    async def _json(self, work: Callable[..., Any], *args: Any) -> Response:
        return JSONResponse(await run_in_threadpool(work, *args))

    async def state(self, request: Request) -> Response:
        """Answer with the state of the session."""
        return await self._json(self._cards.state, self._user(request))

    async def next_cards(self, request: Request) -> Response:
        """Reserve one row, or several, and answer with their cards."""
        user, held = self._user(request), _integers(request.query_params.get("held", ""))
        n = _integer(request.query_params.get("n", "1"), 1, MOST_CARDS)

        def work() -> dict[str, Any]:
            if "n" not in request.query_params:
                return self._next_card(user, held)
            cards = self._cards.next_cards(user, n, held)
            return {"cards": cards, "message": "" if cards else self._cards.nothing_left()}

        return await self._json(work)

    def _next_card(self, user: str, held: set[int]) -> dict[str, Any]:
        """Reserve one row; return its card, or why there is none."""
        cards = self._cards.next_cards(user, 1, held)
        return {"card": cards[0], "message": ""} if cards else {"card": None, "message": self._cards.nothing_left()}

    async def card(self, request: Request) -> Response:
        """Answer with the card of any row."""
        user = self._user(request)
        row = _integer(str(request.path_params["row"]), 0, len(self._cards.table) - 1)
        return JSONResponse({"card": await run_in_threadpool(self._cards.card, user, row)})

    async def answers(self, request: Request) -> Response:
        """Record answers, and answer with the next card if it is wanted."""
        user = self._user(request)
        body = await self._posted(request, answers=list)
        answers = [self._answer(each) for each in body["answers"]]
        given = body.get("held")
        held = {row for row in given if isinstance(row, int)} if isinstance(given, list) else set()

        def work() -> dict[str, Any]:
            saved = self._session.answer(user, answers)
            following = self._next_card(user, held) if body.get("next") else {"card": None, "message": ""}
            return {"saved": saved, **following}

        return await self._json(work)

    def _answer(self, given: Any) -> Answer:
        """Read one answer of a request."""
        if not isinstance(given, dict) or not isinstance(given.get("id"), str):
            raise HTTPException(400, "An answer must be an object with id, key and action.")
        seconds = given.get("seconds")
        is_time = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 <= seconds < 1e6
        return Answer(
            row=self._row(given.get("key")),
            action=str(given.get("action")),
            request=given["id"],
            label=self._label(given),
            source=str(given.get("source")),
            seconds=seconds if is_time else None,
        )

    def _label(self, given: dict[str, Any]) -> Any:
        """Return the label of an answer: by the number of its class, if the table has the same classes as the page."""
        label, number = given.get("label") or "", given.get("class")
        if isinstance(number, int) and given.get("digest") == self._cards.table.digest:
            return self._session.label_of(number, label)
        return label

    def _row(self, key: Any) -> int:
        """Return the position of a row: it may be another one than when the page has got it."""
        if not isinstance(key, str):
            raise HTTPException(400, "A row must be named by its key, a text.")
        found = self._cards.table.positions.get(key)
        if found is None:
            raise HTTPException(410, GONE)
        return found

    async def undo(self, request: Request) -> Response:
        """Undo the latest step of a person."""
        user = self._user(request)
        body = await self._posted(request, id=str)

        def work() -> dict[str, Any]:
            events = self._session.undo(user, body["id"])
            if not events:
                return {"undone": None, "card": None}
            first = events[0]
            row = self._cards.table.positions.get(first.row_key)
            undone = {
                "row": row,
                "number": None if row is None else row + 1,
                "action": first.action,
                "label": first.label,
                "renames": first.renames,
                "is_kept": self._session.is_kept(first),
                "rows": len(events),
            }
            card = None
            if row is not None and len(events) == 1:
                card = self._cards.card(user, row, source_again(first), first.reason)
            classes = self._cards.classes() if first.action == Action.RENAME else {}
            return {"undone": undone, "card": card, **classes}

        return await self._json(work)

    async def history(self, request: Request) -> Response:
        """Answer with earlier answers of a person."""
        before = request.query_params.get("before")
        at = None if before is None else _integer(before, 0, 2**63)
        return await self._json(self._cards.history, self._user(request), at)

    async def doubts(self, request: Request) -> Response:
        """Answer with labels that the others contradict."""
        self._user(request)
        return JSONResponse({"doubts": await run_in_threadpool(self._cards.doubts)})

    async def disagreements(self, request: Request) -> Response:
        """Answer with rows that persons have labelled differently."""
        self._user(request)
        return JSONResponse({"rows": await run_in_threadpool(self._cards.disagreements)})

    async def classes(self, request: Request) -> Response:
        """Add a class."""
        user = self._user(request)
        body = await self._posted(request, name=str)
        await run_in_threadpool(self._session.add_class, user, body["name"])
        return await self._json(self._cards.classes)

    async def rename(self, request: Request) -> Response:
        """Rename a class."""
        user = self._user(request)
        body = await self._posted(request, id=str, name=str, label=str, merges=bool)
        rename = partial(self._session.rename_class, merges=body["merges"])
        await run_in_threadpool(rename, user, body["name"], body["label"], body["id"])
        return await self._json(self._cards.classes)

    async def component(self, request: Request) -> Response:
        """Label the typical rows of a component."""
        user = self._user(request)
        body = await self._posted(request, key=str, label=str, id=str)
        row = self._row(body["key"])
        n = await run_in_threadpool(self._session.label_component, user, row, self._label(body), body["id"])
        return JSONResponse({"labelled": n})

    async def selection(self, request: Request) -> Response:
        """Label those of the selected rows that are in the table and have no label; name those that are not there."""
        user = self._user(request)
        body = await self._posted(request, keys=list, label=str, id=str)
        if not body["keys"] or not all(isinstance(key, str) for key in body["keys"]):
            raise HTTPException(400, "Rows must be named by their keys, a list of texts.")
        positions = self._cards.table.positions
        rows = [positions[key] for key in body["keys"] if key in positions]
        if not rows:
            raise HTTPException(410, GONE)
        n = await run_in_threadpool(self._session.label_selection, user, rows, self._label(body), body["id"])
        return JSONResponse({"labelled": n, "gone": [key for key in body["keys"] if key not in positions]})

    async def map(self, request: Request) -> Response:
        """Answer with the places of the rows."""
        self._user(request)
        number, content = await run_in_threadpool(self._cards.map_bytes)
        return _binary(content, {"X-Structure": str(number)})

    async def predictions(self, request: Request) -> Response:
        """Answer with predicted classes, confidences and labels of the rows on the map."""
        self._user(request)
        number, content = await run_in_threadpool(self._cards.prediction_bytes)
        return _binary(content, {"X-Model": str(number)})

    async def cell(self, request: Request) -> Response:
        """Answer with the whole text of a cell."""
        self._user(request)
        table = self._cards.table
        row = _integer(request.query_params.get("row", ""), 0, len(table) - 1)
        column = _integer(request.query_params.get("column", ""), 0, len(table.columns) - 1)
        return JSONResponse({"text": await run_in_threadpool(self._cards.cell, row, column)})


def _binary(content: bytes, headers: dict[str, str]) -> Response:
    return Response(content, media_type="application/octet-stream", headers=headers)


def _integer(text: str, low: int, high: int) -> int:
    if not text.isdecimal() or len(text) > 20 or not low <= int(text) <= high:
        raise HTTPException(400, f"Expected a whole number from {low} to {high}.")
    return int(text)


def _integers(text: str) -> set[int]:
    return {int(each) for each in text.split(",") if each.isdecimal() and len(each) < 12}
