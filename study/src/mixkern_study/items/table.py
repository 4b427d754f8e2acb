"""The paper item by item, with the code, a verdict and checks of each: a table."""

from mixkern.report.table import TextTable
from mixkern_study.items.experiment import EXPERIMENT_ITEMS
from mixkern_study.items.item import DIFFERS, EXACT, OUTLOOK, PaperItem
from mixkern_study.items.method import METHOD_ITEMS
from mixkern_study.result_table import Cell

FIGURES = (
    PaperItem(
        "With two labels, RWM classifies 91 % of two concentric processes correctly, and RBF 60 %.",
        "1, figure 1",
        ("mixkern_study.plot.introduction",),
        DIFFERS,
        "The processes are the paper's, rows and density our own: 91 and 64 %.",
        ("study/tests/plot/test_introduction.py::test_the_rwm_kernel_succeeds_where_the_rbf_kernel_fails", "figure 1"),
    ),
    PaperItem(
        "Examples of a mixture, and of level curves of distances.",
        "3.1 and 3.2, figures 2 to 5",
        ("mixkern_study.plot.paper.trained_density", "mixkern_study.plot.paper_levels"),
        DIFFERS,
        "Figures 3 to 5 have the paper's mixtures, but for the variance named above. The mixture of figure 2 is ours, "
        "as its parameters are not published.",
        (
            "study/tests/plot/test_levels.py::test_panels_of_scale_show_their_mixture",
            "study/tests/plot/test_levels.py::test_panels_of_weights_show_their_mixture",
            "figure 2",
            "figure 3",
            "figure 4",
            "figure 5",
        ),
    ),
    PaperItem(
        "RWM distances hardly depend on w0, nor on the choice of rows.",
        "3.2, figures 6 and 7",
        ("mixkern_study.plot.paper.robustness_prior", "mixkern_study.plot.paper.robustness_subsets"),
        DIFFERS,
        "The set of five processes is ours, and has 10, 8 and 5 components instead of 12, 8 and 5. The finding is the "
        "same.",
        ("study/tests/plot/test_paper.py::test_distances_hardly_depend_on_the_prior", "figure 6", "figure 7"),
    ),
    PaperItem(
        "More components than processes cost little accuracy; with fewer, RWM is at least as good as RBF.",
        "3.3, figures 11 and 12",
        ("mixkern_study.plot.paper.components",),
        DIFFERS,
        "The first finding is the same. The second is not: with three components, RWM is below RBF on our set.",
        (
            "study/tests/plot/test_paper.py::test_smaller_priors_leave_fewer_components_as_the_caption_says",
            "study/tests/plot/test_paper.py::test_captions_have_the_accuracies_that_are_drawn",
            "figure 11",
            "figure 12",
        ),
    ),
    PaperItem(
        "Four kernels on five artificial sets, with settings chosen by the test rows.",
        "4.1, figure 13",
        ("mixkern_study.plot.best_case.comparison",),
        DIFFERS,
        "Cross, Three Moons and Adidas are ours, as theirs are not published; LAP has k = 7 and nine ratios instead of "
        "the paper's larger grid. The caption names which findings are the same.",
        (
            "study/tests/plot/test_best_case.py::test_the_best_model_is_as_good_as_any_other_of_its_kind_on_the_test_rows",
            "figure 13",
        ),
    ),
    PaperItem(
        "Diagrams of critical differences.",
        "4.2.2, figure 15",
        ("mixkern_study.plot.critical_difference",),
        EXACT,
        "Drawn from the published accuracies and critical differences; the report has the same diagrams of our "
        "results.",
        ("study/tests/plot/test_paper.py::test_published_ranks_are_those_of_the_paper", "figure 15"),
    ),
)

LATER = (
    PaperItem(
        "How does it compare with TSVM and S3VM?",
        "5",
        ("mixkern.TransductiveSVC", "mixkern.QuasiNewtonS3VC", "mixkern_study.variant.PEERS"),
        OUTLOOK,
        "Both are estimators with any of the kernels, and columns of experiments 1 and 2.",
        (
            "tests/svm/test_transductive.py::test_against_all_labels_that_there_could_be",
            "tests/svm/test_s3vm.py::test_objective_against_the_formula",
        ),
    ),
    PaperItem(
        "One-class SVM, and regression.",
        "5",
        ("mixkern.MixtureOneClassSVM", "mixkern.MixtureSVR"),
        OUTLOOK,
        "Both are estimators; all estimators also report the novelty of a row by its density (4.3: anomaly detection).",
        (
            "tests/estimators/test_oneclass.py::test_rbf_on_rows_as_they_are_is_one_class_svm",
            "tests/estimators/test_svr.py::test_rbf_on_rows_as_they_are_is_svr",
            "tests/estimators/test_novelty.py::test_novelty_is_a_plain_loop",
        ),
    ),
    PaperItem(
        "Labels in the density.",
        "5",
        ("mixkern.VBMixture",),
        OUTLOOK,
        "With use_labels=True, the label is one more categorical column.",
        ("tests/density/test_vb.py::test_labels_separate_overlapping_components",),
    ),
    PaperItem(
        "Inference that finds its own parameters.",
        "5",
        ("mixkern.VBMixture",),
        OUTLOOK,
        "W0 follows the components by default (precision_prior='typical'), or maximises the bound ('evidence'), as "
        "do beta0 and nu0 with 'auto'.",
        (
            "tests/density/test_vb.py::test_evidence_is_a_better_bound_than_any_fixed_prior_of_its_form",
            "tests/density/test_inference.py::test_priors_that_choose_themselves",
        ),
    ),
    PaperItem(
        "Large data sets, by sampling and by fewer parameters of covariances.",
        "4.3 and 5",
        ("mixkern.VBMixture", "mixkern.VBMixture.partial_fit"),
        OUTLOOK,
        "Inference starts on samples (progressive=True), reads a table in blocks (partial_fit), and has diagonal, "
        "spherical and tied covariances, and covariances of few factors.",
        (
            "tests/density/test_progressive.py::test_ends_where_a_fit_of_all_rows_ends",
            "tests/density/test_vb.py::test_blocks_in_turn_end_near_a_fit_of_all_rows",
            "tests/density/test_expectation.py::test_every_kind_is_the_full_one_with_its_matrices",
        ),
    ),
    PaperItem(
        "Parametric and non-parametric densities combined.",
        "5",
        ("mixkern.kernels.LaplacianKernel",),
        OUTLOOK,
        "The graph of LAP deforms any kernel, RWM included.",
        ("tests/kernels/test_laplacian.py::test_any_kernel_can_be_bent",),
    ),
    PaperItem(
        "Active learning.",
        "5",
        ("mixkern.advice.suggest",),
        OUTLOOK,
        "suggest chooses the rows to label next.",
        ("tests/advice/test_suggest.py::test_every_cluster_gets_one_before_any_gets_two",),
    ),
)

ITEMS: tuple[PaperItem, ...] = (*METHOD_ITEMS, *EXPERIMENT_ITEMS, *FIGURES, *LATER)


def items_table() -> TextTable:
    """Tabulate all items of the paper, their code, verdicts and checks.

    Examples
    --------
    >>> items_table().columns
    ('Paper', 'Where', 'Code', 'Verdict', 'Checked by')
    """
    return TextTable(
        name="items",
        title="The paper, item by item",
        caption=(
            "Exact: a formula, compared with a plain transcription. As written: a procedure that is followed as far as "
            "the paper describes it. Readings: its words allow several, which are named and run. Differs: something "
            "else is done. Slip: what is printed cannot be meant. Outlook: left to later work by the paper. Checks are "
            "tests, figures of the paper and tables of this report."
        ),
        columns=("Paper", "Where", "Code", "Verdict", "Checked by"),
        rows=tuple(_row(each) for each in ITEMS),
        numbers=frozenset(),
    )


def _row(item: PaperItem) -> tuple[Cell, ...]:
    code, checks = ", ".join(item.code), ", ".join(item.checks)
    verdict = f"{item.verdict}: {item.note}" if item.note else str(item.verdict)
    return tuple(Cell(text) for text in (item.item, item.place, code, verdict, checks))
