"""``mixkern fit``: what it prints, what it writes, and what it refuses."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, datasets, estimated_accuracy, load
from mixkern.errors import MixkernWarning
from mixkern.io import read_model

KEYS = [
    "table",
    "target",
    "rows",
    "classes",
    "columns",
    "ignored",
    "gaps",
    "dialect",
    "decimals",
    "unlabelled",
    "source_column",
    "label_sources",
    "kernel",
    "components",
    "support_vectors",
    "C",
    "model",
    "accuracy",
    "doubtful",
    "notes",
]


def test_the_model_is_that_of_the_library(run, table, people, tmp_path):
    run("fit", table, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate")
    X = people[["age", "town"]]
    expected = MixtureSVC("blend", random_state=0).fit(
        X, people["churn"].astype(object).where(people.churn.notna(), None)
    )
    assert load(tmp_path / "a.mixkern").predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()


@pytest.mark.slow
def test_facts_in_text_json_and_notes(run, table, people, tmp_path):
    place = tmp_path / "a.mixkern"
    found = json.loads(run("fit", table, "--target", "churn", "-o", place, "--json").stdout)
    assert list(found) == KEYS
    assert (found["rows"], found["classes"], found["columns"]) == (90, {"no": 15, "yes": 15}, ["age", "town"])
    assert 0.5 < found["accuracy"]["value"] <= 1
    low, high = found["accuracy"]["interval"]
    assert low < found["accuracy"]["value"] <= high
    assert found["accuracy"]["baseline"] == pytest.approx(0.5, abs=0.1)
    assert "Always predicting the most frequent class would be correct for about" in found["accuracy"]["in_words"][1]
    notes = read_model(place).notes
    assert notes.pop("command") == "mixkern fit people.csv --target churn -o a.mixkern"
    assert notes == {key: value for key, value in found.items() if key not in ("model", "notes")}
    model = load(place)
    assert (found["components"], found["support_vectors"]) == (model.mixture_.n_components, len(model.support_))
    text = run("fit", table, "--target", "churn", "-o", place).stdout
    counts = " and ".join(f"{n} {name!r}" for name, n in people["churn"].value_counts().items())
    sentences = "\n".join(found["accuracy"]["in_words"])
    y = people["churn"].astype(object).where(people.churn.notna(), None)
    assert found["accuracy"]["in_words"] == list(estimated_accuracy(model, people[["age", "town"]], y).sentences)
    assert text == (
        f"Learned 'churn' from 30 labels ({counts}) and 90 rows in {found['components']} components.\n"
        f"{sentences}\nModel: {place}\nNext: mixkern predict {place} {table} -o labelled.csv\n"
    )


@pytest.mark.slow
def test_labels_that_may_be_mistaken_are_named(run, written):
    iris = datasets.load("iris")
    y = np.array(iris.few_labels(per_class=30, random_state=0), dtype=object)
    slips = np.flatnonzero(np.isin(y, iris.classes))[::10]
    y[slips] = np.array(iris.classes, dtype=object)[(np.arange(len(slips)) + 1) % 3]
    path = written(iris.X.assign(species=[label if label in iris.classes else None for label in y]))
    found = json.loads(run("fit", path, "--target", "species", "--json").stdout)["doubtful"]
    assert found
    assert {each["row"] - 1 for each in found} <= set(slips)
    first = f"row {found[0]['row']} ({found[0]['label']!r}, rather {found[0]['likely']!r})"
    assert f"Labels that may be mistaken: {first}" in run("fit", path, "--target", "species").stdout


def test_many_classes_are_noted(run, written):
    random = np.random.RandomState(0)
    y = np.repeat(np.arange(101), 2)
    X = 9 * random.standard_normal((101, 2))[y] + random.standard_normal((202, 2))
    table = written(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": [f"class {code}" for code in y]}))
    result = json.loads(run("fit", table, "--target", "label", "--no-estimate", "--json").stdout)
    [note] = [note for note in result["notes"] if "101 classes" in note]
    assert "a decision function for each of them against all others. Up to 100 classes, there is one" in note


def test_many_labels_are_noted(run, written, monkeypatch):
    monkeypatch.setattr("mixkern.cli.fit.MixtureSVC", partial(MixtureSVC, max_labels=20, n_landmarks=10))
    iris = datasets.load("iris")
    path = written(iris.X.assign(species=iris.y))
    result = json.loads(run("fit", path, "--target", "species", "--no-estimate", "--json").stdout)
    [note] = [note for note in result["notes"] if "150 labels" in note]
    assert note == (
        "There are 150 labels, and decision functions are sums over 10 of the labelled rows. Up to 20 labels, an SVM "
        "is trained on the kernel matrix of all of them."
    )
    assert result["support_vectors"] == 10


@pytest.mark.slow
def test_sources_of_labels(run, people, written, tmp_path, monkeypatch):
    given = []

    def estimate(*arguments, source, **options):
        given.append(source.tolist())
        return estimated_accuracy(*arguments, source=source, **options)

    monkeypatch.setattr("mixkern.cli.fit.estimated_accuracy", estimate)
    how = [None] * 90
    how[0], how[1], how[6], how[89] = "random", " suggested", "suggested", "random"  # the last has no label
    plain = json.loads(run("fit", written(people), "--target", "churn", "--json").stdout)
    assert (plain["source_column"], plain["ignored"]) == (None, [])
    assert plain["label_sources"] == {"random": 0, "suggested": 0, "component": 0, "unknown": 30}
    found = json.loads(run("fit", written(people.assign(label_source=how)), "--target", "churn", "--json").stdout)
    assert (found["source_column"], found["ignored"]) == ("label_source", ["label_source"])
    assert found["label_sources"] == {"random": 1, "suggested": 2, "component": 0, "unknown": 27}
    assert found["columns"] == ["age", "town"]
    assert given == [[None] * 90, [None if word is None else word.strip() for word in how]]
    notes = read_model(tmp_path / "mine.mixkern").notes
    assert (notes["source_column"], notes["label_sources"]) == ("label_source", found["label_sources"])


def test_another_column_of_sources(run, people, written):
    path = written(people.assign(how="random", label_source=np.arange(90) % 3))
    options = ("--target", "churn", "--source", "how", "--json", "--no-estimate")
    found = json.loads(run("fit", path, *options).stdout)
    assert (found["source_column"], found["ignored"]) == ("how", ["how"])
    assert found["label_sources"] == {"random": 30, "suggested": 0, "component": 0, "unknown": 0}
    assert "label_source" in found["columns"]
    done = run("fit", path, "--target", "churn", "--source", "hwo", code=1)
    assert "has no column 'hwo'. Did you mean 'how'?" in done.stderr
    assert done.stderr.endswith("Correct --source.\n")


def test_a_source_with_a_typo(run, people, written, tmp_path):
    path = written(people.assign(label_source=["random", "randm", *[None] * 88]))
    assert run("fit", path, "--target", "churn", code=1).stderr == (
        "Error: Column 'label_source' holds 'randm' in row 2 (counted from 1), but expected is 'suggested', 'random', "
        "'component' or a gap. Did you mean 'random'? Correct the cell. If the column has another meaning, name it in "
        "--drop.\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]


def test_a_table_with_labels_of_one_class_and_their_source(run, people, written):
    path = written(people.assign(churn=people["churn"].where(people["churn"] == "no"), how="random"))
    done = run("fit", path, "--target", "churn", "--source", "how", code=1)
    assert done.stderr.endswith(f"mixkern label {path} --target churn --source how\n")


def test_other_kernels_and_seeds(run, table, tmp_path):
    run(
        "fit", table, "--target", "churn", "-o", tmp_path / "a.mixkern", "--kernel", "rwm", "--seed", 3, "--no-estimate"
    )
    model = load(tmp_path / "a.mixkern")
    assert (model.kernel, model.random_state) == ("rwm", 3)
    assert "'rwm'" in run("fit", table, "--target", "churn", "--kernel", "rmw", code=2).stderr


def test_beside_the_table_where_no_place_is_named(run, people, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    people.to_csv(tmp_path / "in" / "my people.csv.gz", index=False)
    done = run("fit", tmp_path / "in" / "my people.csv.gz", "--target", "churn", "--no-estimate")
    assert (tmp_path / "in" / "my people.mixkern").exists()
    assert f"Next: mixkern predict '{tmp_path}/in/my people.mixkern' " in done.stdout
    monkeypatch.chdir(tmp_path)
    run("fit", "-", "--target", "churn", "--no-estimate", stdin=people.to_csv(index=False))
    assert (tmp_path / "model.mixkern").exists()


def test_an_old_model_stays_unless_there_is_a_new_one(run, people, written, tmp_path):
    place = tmp_path / "a.mixkern"
    place.write_text("old")
    path = written(people.assign(churn="yes"))
    assert (
        "has labels of one class, 'yes', and two classes are needed"
        in run("fit", path, "--target", "churn", "-o", place, code=1).stderr
    )
    assert place.read_text() == "old"
    run("fit", written(people), "--target", "churn", "-o", place, "--no-estimate")
    assert load(place).classes_.tolist() == ["no", "yes"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.mixkern", "mine.csv"]


def test_a_place_that_cannot_be_written(run, table, tmp_path):
    (tmp_path / "file").touch()
    done = run("fit", table, "--target", "churn", "-o", tmp_path / "file" / "a.mixkern", "--no-estimate", code=1)
    assert "cannot be written" in done.stderr
    assert "there is no folder" in done.stderr
    assert "a directory" in run("fit", table, "--target", "churn", "-o", tmp_path, code=2).stderr
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("churn", "message"),
    [
        (None, "has no label, and two classes are needed. Label some rows: mixkern label"),
        ("yes", "Column 'churn' has labels of one class, 'yes'"),
        (
            np.arange(90) % 3 - 1,
            "'churn' holds the text '-1', which could be a class or mark unlabelled rows.",
        ),
        (np.arange(90) / 7, "90 different values in 90 labelled rows"),
        (
            np.where(np.arange(90) % 10, "", np.arange(90) / 7),
            "numbers, not classes. If they are classes: --categorical churn. Otherwise name another --target",
        ),
        ([f"name {i}" for i in range(90)], "more than a column of classes has"),
    ],
    ids=["no labels", "one class", "minus one", "numbers", "few numbers", "names"],
)
def test_what_is_no_column_of_classes(run, people, written, tmp_path, churn, message):
    path = written(people.assign(churn=churn))
    assert message in run("fit", path, "--target", "churn", code=1).stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]


def test_minus_one_may_stand_for_no_label(run, people, written, tmp_path):
    path = written(people.assign(churn=people["churn"].fillna("-1")))
    found = json.loads(run("fit", path, "--target", "churn", "--unlabelled", "-1", "--json", "--no-estimate").stdout)
    assert found["classes"] == {"no": 15, "yes": 15}
    assert found["unlabelled"] == ["-1"]
    assert "accuracy" not in found


def test_classes_that_are_whole_numbers(run, people, written):
    path = written(people.assign(churn=people["churn"].map({"no": 0, "yes": 1})))
    found = json.loads(run("fit", path, "--target", "churn", "--json", "--no-estimate").stdout)
    assert sorted(found["classes"].values()) == [15, 15]


def test_ten_rows_of_ten_numbered_classes(run, people, written):
    path = written(people.assign(churn=[*map(str, range(10)), *[None] * 80]))
    for command in (("fit", "--no-estimate"), ("look",), ("suggest", "-n", "2")):
        found = json.loads(run(command[0], path, "--target", "churn", *command[1:], "--json").stdout)
        assert found.get("classes", {str(i): 1 for i in range(10)}) == {str(i): 1 for i in range(10)}


def test_minus_one_is_a_class_where_empty_cells_mark_unlabelled_rows(run, people, written, tmp_path):
    path = written(people.assign(churn=people["churn"].map({"no": "-1.0", "yes": "1.0"})))
    done = run("fit", path, "--target", "churn", "--no-estimate", "--json")
    assert json.loads(done.stdout)["classes"] == {"-1.0": 15, "1.0": 15}
    assert "15 rows of column 'churn' hold -1.0, which is a class." in json.loads(done.stdout)["notes"][0]


def test_every_row_labelled(run, people, written):
    path = written(people.assign(churn=np.where(np.arange(90) % 2, "yes", "no")))
    done = run("fit", path, "--target", "churn")
    assert "Learned 'churn' from 90 labels (45 'no' and 45 'yes') and 90 rows" in done.stdout


def test_a_target_with_a_typo_names_the_nearest(run, table):
    done = run("fit", table, "--target", "Chrun", code=1)
    assert done.stderr == (
        "Error: people.csv has no column 'Chrun'. Did you mean 'churn'? It has 'age', 'town', 'churn'. "
        "Correct --target.\n"
    )


@pytest.mark.slow
def test_warnings_of_the_library_are_notes_in_words_of_the_command_line(run, people, written, recwarn):
    path = written(people.assign(is_new=np.arange(90) // 2 % 2))
    done = run("fit", path, "--target", "churn", "--no-estimate")
    assert "Note: Some columns could be read in two ways." in done.stderr
    assert "--categorical COLUMN" in done.stderr
    assert "TableEncoder" not in done.stderr
    assert not [each for each in recwarn if issubclass(each.category, MixkernWarning)]
    found = json.loads(run("fit", path, "--target", "churn", "--no-estimate", "--json").stdout)
    assert f"Note: {found['notes'][0]}\n" == done.stderr
    assert run("fit", path, "--target", "churn", "--no-estimate", "--categorical", "is_new").stderr == ""


@pytest.mark.posix
def test_a_folder_that_may_not_be_written(run, table, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        if _is_writable(folder):
            pytest.skip("this user may write everywhere")
        done = run("fit", table, "--target", "churn", "-o", folder / "a.mixkern", "--no-estimate", code=1)
    finally:
        folder.chmod(0o700)
    assert "Permission denied" in done.stderr
    assert list(folder.iterdir()) == []


def _is_writable(folder):
    try:
        (folder / "try").touch()
        (folder / "try").unlink()
    except OSError:
        return False
    return True


def test_a_folder_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in ("fit", "look", "label"):
        assert "is a folder. Name a file inside it." in run(command, ".", "--target", "x", code=1).stderr


def test_a_model_of_another_target_that_is_replaced_is_noted(run, people, written):
    path = written(people.assign(is_new=np.where(np.arange(90) % 2, "new", "old")))
    options = ("--no-estimate", "--drop", "town")
    text = "had a model of 'churn', which is replaced. To keep both, name another file: -o FILE"
    for _ in range(2):
        assert text not in run("fit", path, "--target", "churn", *options).stderr
    assert text in " ".join(run("fit", path, "--target", "is_new", *options).stderr.split())
    assert text not in run("fit", path, "--target", "is_new", *options, "-o", path.with_suffix(".mixkern")).stderr
