"""Counts of requests, their times and rows, in the text format of Prometheus.

One process speaks HTTP, whatever the number of workers, so that counts are those of the whole server.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
METHODS = ("GET", "HEAD", "POST")


class Metrics:
    """What a server has done so far.

    Parameters
    ----------
    paths : iterable of str
        Paths that are counted by name; all others are one.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self.n_rows = 0
        self.n_running = 0

    def count(self, path: str, method: str, status: int, seconds: float, *, is_timed: bool) -> None:
        """Count a request by path, method and status, and the time of one for predictions."""
        path = path if path in self._paths else OTHER
        method = method if method in METHODS else OTHER
        self._requests[path, method, status] += 1
        if is_timed:
            self._buckets[bisect_left(BUCKETS, seconds)] += 1
            self._seconds += seconds

    def text(self, gauges: Mapping[str, tuple[str, str, float]], info: Mapping[str, str]) -> str:
        """Return all counts as text.

        Parameters
        ----------
        gauges : dict
            Further values by name: type, description and value.
        info : dict
            Labels of the model.
        """
        lines = _head("mixkern_http_requests_total", "counter", "Requests, by path, method and status.")
        for (path, method, status), n in sorted(self._requests.items()):
            lines.append(f'mixkern_http_requests_total{{path="{path}",method="{method}",status="{status}"}} {n}')
        lines += _head("mixkern_predict_seconds", "histogram", "Time from a request for predictions to its answer.")
        n_so_far = 0
        for limit, n in zip((*map(str, BUCKETS), "+Inf"), self._buckets, strict=True):
            n_so_far += n
            lines.append(f'mixkern_predict_seconds_bucket{{le="{limit}"}} {n_so_far}')
        lines += [f"mixkern_predict_seconds_sum {self._seconds!r}", f"mixkern_predict_seconds_count {n_so_far}"]
        own = {
            "mixkern_predicted_rows_total": ("counter", "Rows that were predicted.", self.n_rows),
            "mixkern_predict_running": ("gauge", "Requests for predictions that wait or are computed.", self.n_running),
        }
        for name, (kind, about, value) in {**own, **gauges}.items():
            lines += [*_head(name, kind, about), f"{name} {value!r}"]
        labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in info.items())
        lines += [*_head("mixkern_model_info", "gauge", "The model, in labels."), f"mixkern_model_info{{{labels}}} 1"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _escaped(text: str) -> str:
    r"""Return a text as the value of a label.

    >>> _escaped('a "b" \\ c')
    'a \\"b\\" \\\\ c'
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
