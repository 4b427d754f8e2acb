"""Table files and OpenML as data sets; the responses of OpenML were recorded for scikit-learn's own tests."""

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
from mixkern.errors import DownloadError, LabelError, NoTargetError, NotNumericError, TableError, UnusedColumnWarning


def write(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


MIXED = "age,colour,kind\n1,red,a\n2,,b\n,blue,a\n4,red,\n5,blue,b\n"


def test_kinds_of_columns_gaps_and_rows_without_a_label(tmp_path):
    data = datasets.read_dataset(write(tmp_path, MIXED), "kind")
    assert (data.name, data.title, data.continuous, data.categorical) == ("mine", "mine", ("age",), ("colour",))
    assert data.X.shape == (5, 2)
    assert data.y.fillna("").tolist() == ["a", "b", "a", "", "b"]
    assert data.X.isna().sum().tolist() == [1, 1]
    assert (data.classes, data.class_percent) == (("a", "b"), {"a": 50.0, "b": 50.0})
    assert data.few_labels(per_class=1, random_state=0).notna().sum() == 2
    complete = data.labelled()
    assert complete.y.tolist() == ["a", "b", "a", "b"]
    assert complete.X["age"].tolist()[-1] == 5
    assert list(complete.X.index) == list(complete.y.index) == [0, 1, 2, 3]
    assert complete.labelled() is complete


def test_booleans_are_categories_as_for_estimators(tmp_path):
    data = datasets.read_dataset(write(tmp_path, "age,member,kind\n1.5,True,a\n2.5,False,b\n3.5,True,a\n"))
    assert (data.continuous, data.categorical) == (("age",), ("member",))


def test_the_last_column_is_the_target(tmp_path):
    assert datasets.read_dataset(write(tmp_path, MIXED)).y.name == "kind"


def test_any_column_may_be_the_target(tmp_path):
    data = datasets.read_dataset(write(tmp_path, MIXED), "colour")
    assert data.classes == ("blue", "red")
    assert data.continuous == ("age",)


@pytest.mark.parametrize(
    ("text", "target", "why"),
    [
        (MIXED, "knid", "has no column 'knid'. Did you mean 'kind'?"),
        ("", None, "mine.csv is empty"),
        ("a,b\n1\n", None, "line 2: 1 field, but the header has 2"),
        ("a\n1\n2\n", None, "needs a column of labels and at least one other"),
        ("a,b\n1,x\n2,x\n", None, "at least two classes, but it holds 1. Name another target"),
        ("a,b\n1,x\n2,y\n", None, "holds 2 different values in 2 labelled rows rather than classes"),
        ("a,b\n1,0.5\n2,0.25\n3,0.5\n", None, "Column 'b' holds 0.25, 0.5: continuous values, not classes"),
        ("a,b\n1,x\n1,y\n1,y\n", None, "mine.csv: No column is left to learn from: 'a' cannot help"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, target, why):
    with pytest.raises((TableError, LabelError), match=why.replace("?", r"\?")):
        datasets.read_dataset(write(tmp_path, text), target)


def test_row_numbers_and_whole_numbers_with_gaps(tmp_path):
    data = datasets.read_dataset(write(tmp_path, ",age,kind\n0,1,1\n1,2,\n2,3,2\n3,4,2\n4,5,3\n"))
    assert list(data.X) == ["age"]
    assert data.classes == (1.0, 2.0, 3.0)


def test_columns_are_chosen_as_by_the_commands(tmp_path):
    rows = [f"{i},{i % 3},{i % 4},DE,{'xab'[i % 3]}" for i in range(30)]
    path = write(tmp_path, "\n".join(["id,code,size,country,kind", *rows]))
    with pytest.warns(UnusedColumnWarning) as caught:
        data = datasets.read_dataset(path, unlabelled="x", categorical="code")
    assert [str(each.message).partition(": ")[2] for each in caught] == [
        "'id'. To use a column all the same: keep=['id'].",
        "'country'. To use a column all the same: keep=['country'].",
    ]
    assert (data.continuous, data.categorical) == (("size",), ("code",))
    assert (data.classes, data.y.isna().sum()) == (("a", "b"), 10)
    kept = datasets.read_dataset(path, drop=["size"], keep=["id", "country"])
    assert (kept.continuous, kept.categorical, kept.classes) == (("id", "code"), ("country",), ("a", "b", "x"))


def test_texts_as_numbers(tmp_path):
    path = write(tmp_path, "zip,age,kind\n0123,1,a\n0456,2,b\n,3,b\n")
    assert datasets.read_dataset(path).categorical == ("zip",)
    data = datasets.read_dataset(path, continuous="zip")
    assert (data.continuous, data.X["zip"].tolist()[:2]) == (("zip", "age"), [123, 456])
    with pytest.raises(NotNumericError, match="Column 'colour' is a column of numbers, but row 1"):
        datasets.read_dataset(write(tmp_path, MIXED), continuous="colour")


def test_dates_are_categories_and_other_delimiters_are_found(tmp_path):
    data = datasets.read_dataset(write(tmp_path, "since;size;kind\n2024-05-01;1,5;a\n;2,5;b\n2024-05-02;3;a\n"))
    assert (data.continuous, data.categorical) == (("size",), ("since",))
    assert data.X["since"].tolist()[0] == "2024-05-01"
    assert data.X["size"].tolist() == [1.5, 2.5, 3.0]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match=r"no\.csv cannot be read"):
        datasets.read_dataset(tmp_path / "no.csv")


# ---------------------------------------------------------------- OpenML

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
    """Returns recorded responses of OpenML, and fails as without a network for other requests."""

    def __init__(self, responses):
        self.responses = responses
        self.requests = []

    def https_open(self, request):
        self.requests.append(request.full_url)
        for ending, recording in self.responses.items():
            if request.full_url.endswith(ending):
                body = gzip.decompress((RECORDED / recording).read_bytes())
                if b'"error"' in body[:50]:  # OpenML's way to refuse
                    raise HTTPError(request.full_url, 412, "Precondition failed", Message(), io.BytesIO(body))
                return addinfourl(io.BytesIO(body), Message(), request.full_url, 200)
        raise URLError("no network")


@pytest.fixture
def recorded():
    """Replace the network by recorded responses during a test."""

    def install(responses):
        recorder = Recorder(responses)
        opener = urllib.request.OpenerDirector()
        opener.add_handler(recorder)
        urllib.request.install_opener(opener)
        return recorder

    yield install
    urllib.request.install_opener(None)


@pytest.mark.parametrize("name", ["openml:61", "openml:iris"])
@pytest.mark.filterwarnings("ignore:Multiple active versions:UserWarning")
def test_a_data_set_of_openml(name, recorded, tmp_path):
    recorded(IRIS)
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


def test_the_second_time_needs_no_network(recorded, tmp_path):
    recorded(IRIS)
    first = datasets.load("openml:61", data_home=str(tmp_path))
    offline = recorded({})
    second = datasets.load("openml:61", data_home=str(tmp_path))
    pd.testing.assert_frame_equal(first.X, second.X)
    assert offline.requests == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A network error occurred:UserWarning")
def test_without_a_network_the_error_names_what_needs_none(recorded, tmp_path):
    recorded({})
    with pytest.raises(DownloadError, match=r"OpenML could not be reached for 'openml:61' .*names\(\) need none"):
        datasets.load("openml:61", data_home=str(tmp_path))


def test_a_table_of_all_kinds_of_columns(recorded, tmp_path):
    recorded(TITANIC)
    data = datasets.load("openml:40945", data_home=str(tmp_path))
    assert {"age", "fare"} <= set(data.continuous)
    assert {"sex", "embarked", "name"} <= set(data.categorical)
    assert all(isinstance(data.X[column].dtype, pd.CategoricalDtype) for column in data.categorical)
    assert data.classes == ("0", "1")
    assert data.X["age"].isna().any()


def test_a_set_with_several_targets_is_refused(recorded, tmp_path):
    recorded(EMOTIONS)
    with pytest.raises(NoTargetError, match="'openml:40589' does not define a single column of labels"):
        datasets.load("openml:40589", data_home=str(tmp_path))


def test_a_name_has_to_follow():
    with pytest.raises(DownloadError, match="'openml:' is followed by a number or a name, as in 'openml:61'"):
        datasets.load("openml:")


def test_a_name_without_an_active_version_is_refused(recorded, tmp_path):
    recorded(INACTIVE)
    with pytest.raises(DownloadError, match="OpenML has no table for 'openml:glass2': No active dataset glass2"):
        datasets.load("openml:glass2", data_home=str(tmp_path))
