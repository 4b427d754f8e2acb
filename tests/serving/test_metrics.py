"""Counts in the text format of Prometheus."""

import re

from mixkern.serving.metrics import BUCKETS, Metrics

LABEL = r'\w+="(?:[^"\\]|\\.)*"'
LINE = re.compile(rf"^\w+(?:\{{{LABEL}(?:,{LABEL})*\}})? [0-9.e+-]+$")


def samples(metrics, **gauges):
    text = metrics.text(gauges, {"file": 'a "b".mixkern'})
    lines = [line for line in text.splitlines() if not line.startswith("# ")]
    assert all(LINE.match(line) for line in lines), text
    names = [line.split("{")[0].split(" ")[0] for line in lines]
    helped = re.findall(r"^# TYPE (\w+) (counter|gauge|histogram)$", text, re.MULTILINE)
    assert {re.sub("_(bucket|sum|count)$", "", name) for name in names} == {name for name, _ in helped}
    return dict(line.rsplit(" ", 1) for line in lines)


def test_requests_by_path_method_and_status():
    metrics = Metrics(["/predict"])
    for _ in range(3):
        metrics.count("/predict", "POST", 200, 0.01, is_timed=True)
    metrics.count("/secret", "GET", 404, 0.01, is_timed=False)
    metrics.count("/other", "EVIL", 404, 0.01, is_timed=False)
    found = samples(metrics)
    assert found['mixkern_http_requests_total{path="/predict",method="POST",status="200"}'] == "3"
    assert found['mixkern_http_requests_total{path="other",method="GET",status="404"}'] == "1"
    assert found['mixkern_http_requests_total{path="other",method="other",status="404"}'] == "1"


def test_the_number_of_lines_does_not_grow_with_strange_requests():
    metrics = Metrics(["/predict"])
    for i in range(1000):
        metrics.count(f"/{i}", f"M{i}", 404, 0.0, is_timed=False)
    assert len(samples(metrics)) < 40


def test_times_are_counted_in_buckets_that_add_up():
    metrics = Metrics(["/predict"])
    times = [0.0005, 0.001, 0.0011, 0.3, 29.0, 31.0, 500.0]
    for seconds in times:
        metrics.count("/predict", "POST", 200, seconds, is_timed=True)
    found = samples(metrics)
    for limit in BUCKETS:
        assert found[f'mixkern_predict_seconds_bucket{{le="{limit}"}}'] == str(sum(each <= limit for each in times))
    assert found['mixkern_predict_seconds_bucket{le="+Inf"}'] == found["mixkern_predict_seconds_count"] == "7"
    assert float(found["mixkern_predict_seconds_sum"]) == sum(times)


def test_further_values_and_labels():
    metrics = Metrics([])
    metrics.count("/", "GET", 200, 0.0, is_timed=False)
    found = samples(metrics, mixkern_workers_ready=("gauge", "Workers.", 2))
    assert found["mixkern_workers_ready"] == "2"
    assert found[r'mixkern_model_info{file="a \"b\".mixkern"}'] == "1"
