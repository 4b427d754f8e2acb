"""Formats and options of requests."""

import pytest

from mixkern.serving.request import ARROW, JSON, Question, RequestError


def question(query=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Question.of({"content-type": JSON} | named, query or {})


@pytest.mark.parametrize("name", [JSON, f"{JSON}; charset=utf-8", "Application/JSON", ARROW])
def test_formats_of_bodies(name):
    assert question(content_type=name).given == name.partition(";")[0].lower()


@pytest.mark.parametrize("name", ["", "text/csv", "application/x-www-form-urlencoded", "application/json2", "x" * 5000])
def test_other_formats_are_refused(name):
    with pytest.raises(RequestError, match="Content-Type must be application/json or") as caught:
        question(content_type=name)
    assert caught.value.status == 415
    assert len(str(caught.value)) < 300


def test_compressed_bodies_are_refused():
    with pytest.raises(RequestError, match="must not be compressed") as caught:
        question(content_encoding="gzip")
    assert caught.value.status == 415
    assert question(content_encoding="identity").given == JSON


@pytest.mark.parametrize(
    ("accept", "given", "wanted"),
    [
        ("", JSON, JSON),
        ("", ARROW, ARROW),
        ("*/*", ARROW, ARROW),
        (JSON, ARROW, JSON),
        (ARROW, JSON, ARROW),
        (f"{JSON}, {ARROW}", ARROW, ARROW),
        (f"{JSON};q=0.2, {ARROW};q=0.9", JSON, ARROW),
        (f"text/html, {ARROW};q=0.1", JSON, ARROW),
        ("application/*", JSON, JSON),
        (f"*/*, {JSON};q=0", JSON, ARROW),
        (f"{JSON};q=wrong", JSON, JSON),
        (f" {ARROW.upper()} ", JSON, ARROW),
    ],
)
def test_the_answer_has_the_format_that_is_accepted(accept, given, wanted):
    assert question(content_type=given, accept=accept).wanted == wanted


@pytest.mark.parametrize("accept", ["text/html", "image/*", f"{JSON};q=0, {ARROW};q=0", ",,"])
def test_formats_that_there_are_not(accept):
    with pytest.raises(RequestError, match="Accept must allow") as caught:
        question(accept=accept)
    assert caught.value.status == 406


def test_options():
    found = question({"all_classes": "True", "abstain": "0.8"})
    assert (found.all_classes, found.abstain) == (True, 0.8)
    assert question({"all_classes": "0"}) == question() == Question(**question().facts())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"abstan": "1"}, "There is no option 'abstan'. Did you mean 'abstain'?"),
        ({"all_classes": "yes"}, "all_classes must be true or false, but it is 'yes'."),
        ({"abstain": "1.5"}, "abstain must be a probability from 0 to 1, but it is '1.5'."),
        ({"abstain": "nan"}, "abstain must be a probability"),
        ({"abstain": "-0.1"}, "abstain must be a probability"),
        ({"abstain": "half"}, "abstain must be a probability"),
    ],
)
def test_wrong_options_are_refused(query, text):
    with pytest.raises(RequestError) as caught:
        question(query)
    assert text in caught.value.text
    assert caught.value.status == 400
