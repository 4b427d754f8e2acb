"""What users may call: pinned, documented, importable without the extras."""

import importlib
import inspect
import subprocess
import sys

import pytest

import mixkern

VALUES = ("KERNELS", "PEERS", "Peer", "UNLABELLED", "__version__")  # and an alias: they have no docstring

PUBLIC = {
    "mixkern": {
        "DensitySearch",
        "LaplacianSVC",
        "Mixture",
        "MixtureOneClassSVM",
        "MixtureSVC",
        "MixtureSVR",
        "QuasiNewtonS3VC",
        "SVCSearch",
        "SemiSupervisedSplit",
        "TableEncoder",
        "TransductiveSVC",
        "VBMixture",
        "__version__",
        "advise",
        "datasets",
        "load",
        "plot",
        "save",
        "study",
        "suggest",
    },
    "mixkern.advice": {
        "AccuracyEstimate",
        "Advice",
        "Verdict",
        "advise",
        "estimated_accuracy",
        "suggest",
        "suggested_rows",
        "suggestion_table",
    },
    "mixkern.estimators": {
        "Explanation",
        "LaplacianSVC",
        "MixtureOneClassSVM",
        "MixtureSVC",
        "MixtureSVR",
        "QuasiNewtonS3VC",
        "TransductiveSVC",
    },
    "mixkern.density": {
        "CovarianceType",
        "Criterion",
        "DensitySearch",
        "Mixture",
        "ParzenWindow",
        "Trial",
        "VBMixture",
        "component_table",
        "one_hot_rows",
        "representativity",
    },
    "mixkern.cli": {"cli"},
    "mixkern.datasets": {
        "Dataset",
        "load",
        "make_adidas",
        "make_clouds",
        "make_concentric",
        "make_cross",
        "make_five_processes",
        "make_ripley",
        "make_three_moons",
        "make_two_moons",
        "make_two_rings",
        "names",
        "read_table",
    },
    "mixkern.engine": {"count", "distance", "kernel", "kernel_times"},
    "mixkern.kernels": {
        "BlendTerms",
        "BlendKernel",
        "Definiteness",
        "DistanceKernel",
        "GMMKernel",
        "LaplacianKernel",
        "MixtureKernel",
        "RBFKernel",
        "RWMKernel",
        "Repair",
        "Repaired",
        "PairTerms",
        "definiteness",
        "is_definite",
        "repaired",
    },
    "mixkern.plot": {
        "PaperFigure",
        "bound_trace",
        "compare_decisions",
        "compare_levels",
        "critical_difference",
        "decision",
        "density",
        "density_trials",
        "gallery",
        "introduction",
        "leaderboard",
        "level_curves",
        "paper_figures",
        "paper_levels",
        "scatter",
        "search_map",
    },
    "mixkern.report": {"write_model_report", "write_pages", "write_report"},
    "mixkern.search": {"Rating", "SVCSearch", "SearchTrial", "SemiSupervisedSplit", "Strategy"},
    "mixkern.svm": {
        "Dual",
        "Remedy",
        "evidence_C",
        "evidence_share",
        "classifier",
        "label_folds",
        "log_evidence",
        "one_class",
        "pairs",
        "regressor",
    },
    "mixkern.storage": {"ModelFile", "load", "read_model", "save"},
    "mixkern_study": {
        "Accuracy",
        "CellKey",
        "Contest",
        "DatasetComparison",
        "DatasetFigures",
        "DensityStrategy",
        "Draw",
        "Experiment",
        "KERNELS",
        "Leaderboard",
        "LeaderboardStore",
        "Lesson",
        "Method",
        "PEERS",
        "Peer",
        "Protocol",
        "RankTest",
        "Reading",
        "Result",
        "RunTimes",
        "Step",
        "Store",
        "StudyFold",
        "StudyTable",
        "Timing",
        "accuracy_table",
        "all_rows",
        "compare_data_sets",
        "critical_value",
        "definiteness_table",
        "labels_only",
        "leaderboard_tables",
        "machine",
        "published_accuracies",
        "published_data_sets",
        "published_run_times",
        "rank_test",
        "readings_table",
        "run",
        "run_leaderboard",
        "run_time_table",
        "run_times",
        "settings_table",
        "statistics_table",
        "study_fold",
    },
    "mixkern.encoding": {
        "CategoricalColumn",
        "ContinuousColumn",
        "Kind",
        "Labels",
        "TableEncoder",
        "TableFile",
        "UNLABELLED",
        "encode_labels",
        "encode_targets",
        "identifiers",
        "stacked",
        "table_file",
        "table_writer",
    },
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_pinned(module):
    assert set(importlib.import_module(module).__all__) == PUBLIC[module]


@pytest.mark.parametrize(
    ("module", "name"),
    [(m, n) for m, found in PUBLIC.items() for n in sorted(found) if n not in VALUES],
)
def test_public_names_have_docstrings(module, name):
    assert len(inspect.getdoc(getattr(importlib.import_module(module), name)) or "") > 20


def test_version_is_the_installed_one():
    assert mixkern.__version__ == importlib.metadata.version("mixkern")


def without(extras, code):
    """Run code in a process in which some libraries cannot be imported."""
    block = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in extras)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", block + code], capture_output=True, text=True, check=False
    )


ALL_EXTRAS = ("pandas", "polars", "pyarrow", "matplotlib", "skops", "click", "rich")


def test_the_core_needs_no_extra():
    code = "import mixkern\nprint(mixkern.TableEncoder().fit_transform([[1.5, 'a'], [2.5, 'b']]).tolist())"
    done = without(ALL_EXTRAS, code)
    assert done.stderr == ""
    assert done.stdout == "[[-1.0, 0.0], [1.0, 1.0]]\n"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (
            "mixkern.datasets.load('iris')",
            "mixkern.datasets needs pandas, which is not installed. Install it with: pip install 'mixkern[data]'",
        ),
        ("mixkern.datasets.load('clouds')", "pip install 'mixkern[data]'"),
        ("mixkern.datasets.load('openml:61')", "pip install 'mixkern[data]'"),
        ("mixkern.TableEncoder().fit([[1.5], [2]]).describe()", "TableEncoder.describe needs pandas"),
        (
            "mixkern.TableEncoder().fit([[1.5], [2]]).inverse_transform([[0]])",
            "TableEncoder.inverse_transform needs pandas",
        ),
        (
            "from mixkern import plot; plot.gallery()",
            "mixkern.plot needs matplotlib, which is not installed. Install it with: pip install 'mixkern[plot]'",
        ),
        (
            "mixkern.save(mixkern.TableEncoder().fit([[1.5], [2]]), 'never.mixkern')",
            "mixkern.save needs skops, which is not installed. Install it with: pip install 'mixkern[file]'",
        ),
        (
            "import mixkern.__main__; mixkern.__main__.main()",
            "mixkern: The command line needs click, which is not installed. Install it with: pip install",
        ),
    ],
)
def test_a_missing_extra_is_a_sentence(code, sentence):
    done = without(ALL_EXTRAS, "import mixkern\n" + code)
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_broken_library_speaks_for_itself(tmp_path, monkeypatch):
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("import no_such_thing")
    code = f"sys.path.insert(0, {str(tmp_path)!r})\nfrom mixkern import plot; plot.gallery()"
    done = without((), code)
    assert "No module named 'no_such_thing'" in done.stderr
    assert "mixkern[plot]" not in done.stderr
