"""The web server of the labelling page: what each address answers."""

import asyncio
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

from mixkern.errors import MixkernError
from mixkern.labelling.access import Access
from mixkern.labelling.cards import Cards
from mixkern.labelling.session import Answer, checked_user
from mixkern.web.guard import Guard, error_handlers
from mixkern.wording import counted

PAGE = Path(__file__).parent / "page"
MOST_CARDS = 50
LOG_IN_S = 1.0  # waited for after a wrong password
COOKIE_S = 30 * 24 * 3600

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
        Route("/api/map", api.map),
        Route("/api/predictions", api.predictions),
        Route("/api/cell", api.cell),
        Mount("/static", StaticFiles(directory=PAGE / "static")),
    ]
    handlers = {**error_handlers(), MixkernError: _refuse}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access.address)


def _refuse(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=400)


class _Pages:
    """The page itself, and the page on which persons log in."""

    def __init__(self, cards: Cards, access: Access) -> None:
        self._cards, self._access = cards, access
        self._one_by_one = asyncio.Lock()

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
        return HTMLResponse(_templates.get_template("index.html").render(**facts))

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
        answer.set_cookie(self._access.cookie, token, max_age=COOKIE_S, httponly=True, samesite="strict")
        return answer


class _Api:
    """What the page asks for and sends, as JSON; each call runs in a thread."""

    def __init__(self, cards: Cards, access: Access) -> None:
        self._cards, self._session, self._access = cards, cards.session, access

    def _user(self, request: Request) -> str:
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
        cards = await run_in_threadpool(self._cards.next_cards, user, n, held)
        if "n" in request.query_params:
            return JSONResponse({"cards": cards, "message": "" if cards else self._nothing_left()})
        return JSONResponse({"card": cards[0], "message": ""} if cards else self._no_card())

    def _no_card(self) -> dict[str, Any]:
        return {"card": None, "message": self._nothing_left()}

    def _nothing_left(self) -> str:
        n = len(self._cards.table) - len(self._session.labels)
        if not n:
            return "Every row has a label."
        was, on = ("was", "is") if n == 1 else ("were", "are")
        return f"{counted(n, 'row')} without a label {was} skipped, or {on} on the screen of a person."

    async def card(self, request: Request) -> Response:
        """Answer with the card of any row."""
        user = self._user(request)
        row = _integer(str(request.path_params["row"]), 0, len(self._cards.table) - 1)
        return JSONResponse({"card": await run_in_threadpool(self._cards.card, user, row)})

    async def answers(self, request: Request) -> Response:
        """Record answers, and answer with the next card if it is wanted."""
        user = self._user(request)
        body = await self._posted(request, answers=list)
        answers = [_answer(each) for each in body["answers"]]
        given = body.get("held")
        held = {row for row in given if isinstance(row, int)} if isinstance(given, list) else set()

        def work() -> dict[str, Any]:
            saved = self._session.answer(user, answers)
            cards = self._cards.next_cards(user, 1, held) if body.get("next") else []
            no_card = {"card": None, "message": self._nothing_left() if body.get("next") else ""}
            return {"saved": saved, **({"card": cards[0], "message": ""} if cards else no_card)}

        return await self._json(work)

    async def undo(self, request: Request) -> Response:
        """Undo the latest step of a person."""
        user = self._user(request)
        body = await self._posted(request, id=str)

        def work() -> dict[str, Any]:
            events = self._session.undo(user, body["id"])
            if not events:
                return {"undone": None, "card": None}
            first = events[0]
            row = self._cards.table.positions.get(first.row_key, -1)
            undone = {
                "row": row,
                "number": row + 1,
                "action": first.action,
                "label": first.label,
                "renames": first.renames,
                "is_kept": self._session.is_kept(first),
                "rows": len(events),
            }
            card = self._cards.card(user, row, first.source, first.reason) if row >= 0 and len(events) == 1 else None
            return {"undone": undone, "card": card}

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
        return await self._classes(user)

    async def _classes(self, user: str) -> Response:
        state = await run_in_threadpool(self._cards.state, user)
        return JSONResponse({name: state[name] for name in ("classes", "former_names")})

    async def rename(self, request: Request) -> Response:
        """Rename a class."""
        user = self._user(request)
        body = await self._posted(request, id=str, name=str, label=str, merges=bool)
        rename = partial(self._session.rename_class, merges=body["merges"])
        await run_in_threadpool(rename, user, body["name"], body["label"], body["id"])
        return await self._classes(user)

    async def component(self, request: Request) -> Response:
        """Label the typical rows of a component."""
        user = self._user(request)
        body = await self._posted(request, row=int, label=str, id=str)
        n = await run_in_threadpool(self._session.label_component, user, body["row"], body["label"], body["id"])
        return JSONResponse({"labelled": n})

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


def _answer(given: Any) -> Answer:
    """Read one answer of a request."""
    if not isinstance(given, dict) or not isinstance(given.get("row"), int) or not isinstance(given.get("id"), str):
        raise HTTPException(400, "An answer must be an object with id, row and action.")
    seconds = given.get("seconds")
    is_time = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 <= seconds < 1e6
    return Answer(
        row=given["row"],
        action=str(given.get("action")),
        request=given["id"],
        label=given.get("label") or "",
        source=str(given.get("source")),
        seconds=seconds if is_time else None,
    )
