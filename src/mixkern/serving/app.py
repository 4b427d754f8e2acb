"""The web server of a model: what each address answers, who may ask, and how many at a time."""

import asyncio
import base64
import binascii
import time
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mixkern.serving.description import ModelDescription, in_words
from mixkern.serving.limits import Limits
from mixkern.serving.log import ROWS, RequestLog
from mixkern.serving.metrics import MEDIA_TYPE, Metrics
from mixkern.serving.openapi import openapi
from mixkern.serving.pool import Pool, WorkerLostError
from mixkern.serving.request import ARROW, Question, RequestError
from mixkern.web.address import Address
from mixkern.web.guard import Guard, Receive, Scope, Send, error_handlers
from mixkern.web.secret import are_equal
from mixkern.wording import joined, nearest, shortened

PAGE = Path(__file__).parent / "page"
PREDICT, HEALTH, LIVE = "/predict", "/health", "/health/live"
PATHS = ("/", PREDICT, "/model", "/openapi.json", HEALTH, LIVE, "/metrics")
RETRY = {"Retry-After": "1"}
CHALLENGES = ('Bearer realm="mixkern"', 'Basic realm="mixkern"')  # a line for each: Chromium does not split one line

_templates = Environment(loader=FileSystemLoader(PAGE), autoescape=True)


def model_app(
    model: ModelDescription,
    pool: Pool,
    limits: Limits,
    address: Address,
    token: str = "",
    log: RequestLog | None = None,
) -> Any:
    """Return the ASGI application of a model.

    Parameters
    ----------
    model : ModelDescription
        What the pages show.
    pool : Pool
        Processes that predict; they are started and stopped with the application.
    limits : Limits
        What is accepted.
    address : Address
        Where the server listens.
    token : str, default=""
        What requests must have, except those for its health.
    log : RequestLog, default=None
        Where requests are logged.
    """
    pages = _Pages(model, pool, limits, address, has_token=bool(token))
    routes = [
        Route("/", pages.index),
        Route(PREDICT, pages.predict, methods=["POST"]),
        Route("/model", pages.model),
        Route("/openapi.json", pages.openapi),
        Route(HEALTH, pages.health),
        Route(LIVE, pages.live),
        Route("/metrics", pages.metrics),
        Route("/style.css", pages.style),
    ]

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        pool.start()
        yield
        await pool.stop()

    own = {404: _refuse_address, 405: _refuse_method, RequestError: _refuse}
    handlers = {**error_handlers(limits.n_bytes), **own}
    app: Any = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False
    gate = TokenGate(app, token) if token else app
    return Meter(Guard(gate, address, limits.n_bytes), pages.counts, log)


def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # Starlette passes no other
    return JSONResponse({"error": error.text}, status_code=error.status)


def _refuse_address(request: Request, _error: Exception) -> Response:
    path, known = request.scope["path"], joined(PATHS, len(PATHS))
    text = f"There is no address {shortened(path, 80)!r}.{nearest(path, PATHS)} Addresses are {known}."
    return JSONResponse({"error": text}, status_code=404)


def _refuse_method(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # Starlette passes no other
    methods = sorted((error.headers or {}).get("Allow", "").split(", "))
    text = f"{request.scope['path']} takes {joined(methods)}, but the method is {shortened(request.method)}."
    return JSONResponse({"error": text}, status_code=405, headers={"Allow": ", ".join(methods)})


class Meter:
    """ASGI middleware that counts requests by their status, refused ones included, and logs them."""

    def __init__(self, app: Any, counts: Metrics, log: RequestLog | None = None) -> None:
        self._app, self._counts, self._log = app, counts, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, count it, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 499  # where the client has gone before the answer

        async def send_counted(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            seconds, path = time.perf_counter() - start, scope["path"]
            self._counts.count(path, scope["method"], status, seconds, is_timed=path == PREDICT)
            if self._log is not None:
                self._log.write(scope, status, seconds)


class TokenGate:
    """ASGI middleware that answers only with a token, as a bearer token or as the password of a browser's prompt."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token of a request, and pass it on."""
        is_open = scope["type"] != "http" or scope["path"] in (HEALTH, LIVE)
        if is_open or are_equal(self._token, _given_token(scope)):
            await self._app(scope, receive, send)
            return
        text = "A token is needed. Send it in the header: Authorization: Bearer TOKEN."
        answer = JSONResponse({"error": text}, status_code=401)
        for challenge in CHALLENGES:
            answer.headers.append("WWW-Authenticate", challenge)
        await answer(scope, receive, send)


def _given_token(scope: Scope) -> str:
    """Return the token of a request, empty where there is none."""
    header = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"")
    kind, _, rest = header.decode("latin-1").partition(" ")
    if kind.lower() == "bearer":
        return str(rest.strip().encode("latin-1").decode("utf-8", "replace"))
    if kind.lower() != "basic":
        return ""
    try:
        decoded = base64.b64decode(rest.strip(), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
    return str(decoded.partition(":")[2])


class _Pages:
    """What each address answers."""

    def __init__(
        self, model: ModelDescription, pool: Pool, limits: Limits, address: Address, *, has_token: bool
    ) -> None:
        self._model, self._pool, self._limits = model, pool, limits
        self._address, self._has_token = address, has_token
        self.counts = Metrics(PATHS)

    async def predict(self, request: Request) -> Response:
        """Answer with predictions of the rows of a request."""
        question = Question.of(request.headers, request.query_params)
        counts, limits = self.counts, self._limits
        if counts.n_running >= limits.requests:
            raise HTTPException(
                503, f"{limits.requests} requests are being answered, which is the limit. Try again later.", RETRY
            )
        counts.n_running += 1
        try:
            return await self._answer(question, request)
        finally:
            counts.n_running -= 1

    async def _answer(self, question: Question, request: Request) -> Response:
        """Read the body of a request, and pass it to a worker, in limited time."""
        body = None
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await request.body()
                facts, content = await self._pool.ask(question.facts(), body)
        except TimeoutError:
            if body is None:
                raise HTTPException(408, f"The body was not sent within {self._limits.seconds:g} s.") from None
            text = f"There was no answer within {self._limits.seconds:g} s. Send fewer rows, or try again later."
            raise HTTPException(503, text, RETRY) from None
        except WorkerLostError:
            raise HTTPException(500, "Several workers ended while they computed this answer.") from None
        self.counts.n_rows += facts["rows"]
        request.scope[ROWS] = facts["rows"]
        headers = {"X-Model-SHA256": self._model.sha256}
        return Response(content, facts["status"], headers, facts["media_type"])

    async def index(self, request: Request) -> Response:
        """Show a page about the model."""
        columns = [{**each, "in_words": in_words(each)} for each in self._model.facts["columns"]]
        # By the name under which it was asked for, which the guard has checked.
        command = self._model.command(str(request.base_url), has_token=self._has_token)
        facts = {**self._model.facts, "columns": columns}
        limits = {**self._limits.facts(), "seconds": f"{self._limits.seconds:g}"}
        page = _templates.get_template("index.html")
        return HTMLResponse(page.render(model=self._model, facts=facts, limits=limits, command=command, arrow=ARROW))

    async def model(self, _request: Request) -> Response:
        """Answer with facts about the model."""
        return JSONResponse({**self._model.facts, "limits": self._limits.facts()})

    async def openapi(self, _request: Request) -> Response:
        """Answer with a description from which clients are generated."""
        return JSONResponse(openapi(self._model, self._limits, has_token=self._has_token))

    async def health(self, _request: Request) -> Response:
        """Answer whether predictions can be asked for."""
        n = self._pool.n_ready
        status = "ready" if n else "starting"
        return JSONResponse({"status": status, "workers": n}, 200 if n else 503, None if n else RETRY)

    async def live(self, _request: Request) -> Response:
        """Answer that the server runs."""
        return JSONResponse({"status": "live"})

    async def metrics(self, _request: Request) -> Response:
        """Answer with counts in the text format of Prometheus."""
        gauges = {
            "mixkern_workers_ready": ("gauge", "Workers that can predict.", self._pool.n_ready),
            "mixkern_workers_replaced_total": ("counter", "Workers that ended.", self._pool.n_ended),
        }
        info = {"sha256": self._model.sha256, "file": self._model.name}
        return PlainTextResponse(self.counts.text(gauges, info), media_type=MEDIA_TYPE)

    async def style(self, _request: Request) -> Response:
        """Answer with the style of the page."""
        return FileResponse(PAGE / "style.css", media_type="text/css")
