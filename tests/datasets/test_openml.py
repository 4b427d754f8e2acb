"""OpenML, on answers that were recorded from it: scikit-learn ships them with its own tests."""

import gzip
import io
import urllib.request
from email.message import Message
from importlib.resources import files
from urllib.error import HTTPError, URLError
from urllib.response import addinfourl

import pandas as pd
import pytest

from mixkern import datasets
from mixkern.errors import DownloadError, NoTargetError

RECORDED = files("sklearn.datasets.tests.data.openml")

IRIS = {
    "/data/list/data_name/iris/limit/2/status/active/": "id_61/api-v1-jdl-dn-iris-l-2-s-act-.json.gz",
    "/data/61": "id_61/api-v1-jd-61.json.gz",
    "/data/features/61": "id_61/api-v1-jdf-61.json.gz",
    "/data/qualities/61": "id_61/api-v1-jdq-61.json.gz",
    "/data/v1/download/61/iris.arff": "id_61/data-v1-dl-61.arff.gz",
}

TITANIC = {
    "/data/40945": "id_40945/api-v1-jd-40945.json.gz",
    "/data/features/40945": "id_40945/api-v1-jdf-40945.json.gz",
    "/data/qualities/40945": "id_40945/api-v1-jdq-40945.json.gz",
    "/data/v1/download/16826755/Titanic.arff": "id_40945/data-v1-dl-16826755.arff.gz",
}
EMOTIONS = {  # six columns to predict
    "/data/40589": "id_40589/api-v1-jd-40589.json.gz",
    "/data/features/40589": "id_40589/api-v1-jdf-40589.json.gz",
    "/data/qualities/40589": "id_40589/api-v1-jdq-40589.json.gz",
    "/data/v1/download/4644182/emotions.arff": "id_40589/data-v1-dl-4644182.arff.gz",
}
INACTIVE = {"/data/list/data_name/glass2/limit/2/status/active/": "id_40675/api-v1-jdl-dn-glass2-l-2-s-act-.json.gz"}


class Recorder(urllib.request.BaseHandler):
    """Answers like OpenML where an answer was recorded, and like a missing network where not."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []

    def https_open(self, request):
        self.asked.append(request.full_url)
        for ending, recording in self.answers.items():
            if request.full_url.endswith(ending):
                body = gzip.decompress((RECORDED / recording).read_bytes())
                if b'"error"' in body[:50]:  # OpenML's way to say no
                    raise HTTPError(request.full_url, 412, "Precondition failed", Message(), io.BytesIO(body))
                return addinfourl(io.BytesIO(body), Message(), request.full_url, 200)
        raise URLError("no network")


@pytest.fixture
def answer():
    """Put recorded answers in place of the network, for as long as a test runs."""

    def install(answers):
        recorder = Recorder(answers)
        opener = urllib.request.OpenerDirector()
        opener.add_handler(recorder)
        urllib.request.install_opener(opener)
        return recorder

    yield install
    urllib.request.install_opener(None)


@pytest.mark.parametrize("name", ["openml:61", "openml:iris"])
@pytest.mark.filterwarnings("ignore:Multiple active versions:UserWarning")
def test_a_recorded_answer_becomes_a_data_set(name, answer, tmp_path):
    answer(IRIS)
    data = datasets.load(name, data_home=str(tmp_path))
    assert data.X.shape == (150, 4)
    assert data.continuous == ("sepallength", "sepalwidth", "petallength", "petalwidth")
    assert data.categorical == ()
    assert data.classes == ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
    assert (data.X.dtypes == "float64").all()
    assert data.source == "OpenML data set 61, version 1"
    assert data.licence == "Public"
    assert data.creators == "R.A. Fisher"
    assert data.title == "iris"
    # the same flowers as the packaged set, two misprints apart
    assert (data.X.to_numpy() != datasets.load("iris").X.to_numpy()).sum() <= 3


def test_the_second_time_needs_no_network(answer, tmp_path):
    answer(IRIS)
    first = datasets.load("openml:61", data_home=str(tmp_path))
    offline = answer({})
    second = datasets.load("openml:61", data_home=str(tmp_path))
    pd.testing.assert_frame_equal(first.X, second.X)
    assert offline.asked == []


@pytest.mark.filterwarnings("ignore:A network error occurred:UserWarning")
def test_without_a_network_the_error_says_what_needs_none(answer, tmp_path):
    answer({})
    with pytest.raises(DownloadError, match=r"OpenML could not be reached for 'openml:61' .*names\(\) need none"):
        datasets.load("openml:61", data_home=str(tmp_path))


def test_a_table_of_all_kinds_of_columns(answer, tmp_path):
    answer(TITANIC)
    data = datasets.load("openml:40945", data_home=str(tmp_path))
    assert {"age", "fare"} <= set(data.continuous)
    assert {"sex", "embarked", "name"} <= set(data.categorical)
    assert all(isinstance(data.X[column].dtype, pd.CategoricalDtype) for column in data.categorical)
    assert data.classes == ("0", "1")
    assert data.X["age"].isna().any()


def test_a_set_with_several_targets_is_refused(answer, tmp_path):
    answer(EMOTIONS)
    with pytest.raises(NoTargetError, match="'openml:40589' does not say which one column holds the labels"):
        datasets.load("openml:40589", data_home=str(tmp_path))


def test_a_name_has_to_follow():
    with pytest.raises(DownloadError, match="'openml:' is followed by a number or a name, as in 'openml:61'"):
        datasets.load("openml:")


def test_a_name_without_an_active_version_is_refused(answer, tmp_path):
    answer(INACTIVE)
    with pytest.raises(DownloadError, match="OpenML gives no table for 'openml:glass2': No active dataset glass2"):
        datasets.load("openml:glass2", data_home=str(tmp_path))
