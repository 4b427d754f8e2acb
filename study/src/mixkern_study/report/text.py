"""Texts of the report that do not depend on results."""

from collections import Counter

from mixkern.report.blocks import Block, Bullets, Code, Heading, Paragraph
from mixkern_study.items import ITEMS, ItemVerdict

TITLE = "RWM kernels: the paper's experiments, run again"

INTRODUCTION: tuple[Block, ...] = (
    Paragraph(
        "Reitmaier and Sick (The responsibility weighted Mahalanobis kernel for semi-supervised training of support "
        "vector machines for classification, 2015) propose RWM, a kernel that takes its distances from a mixture "
        "density of all rows, labelled or not. They compare it with three others in support vector machines on twenty "
        "data sets: GMM (the same distances, weighted by the components' shares), RBF (Euclidean distances) and LAP "
        "(RBF deformed along a graph of neighbours). Here the same experiments are run again, and each figure stands "
        "beside the published one. Experiment 1 has four times as many labels as classes, experiment 2 a tenth of the "
        "training rows, experiment 3 all of them."
    ),
    Paragraph(
        "The paper does not state by which labels C, gamma and the density were chosen, and with few labels that "
        "decides the result. So every result is there by three readings: with training labels only, which is what a "
        "user can have; optimistic, where C and gamma are rated on labels of unlabelled rows; and at the ceiling, "
        "where the density of RWM and GMM, the best of six, is chosen by those labels, too. RBF and LAP have no such "
        "choice."
    ),
)


def items_sentence() -> str:
    """Return how many items of the paper have each verdict."""
    counts = Counter(item.verdict for item in ITEMS)
    found = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ItemVerdict if counts[verdict])
    return (
        f"Formulas and protocol: {len(ITEMS)} items of the paper are on the page of items, with these verdicts: "
        f"{found}. Each names the test, table or figure that checks it."
    )


HOW: tuple[Block, ...] = (
    Bullets(
        (
            "RWM weighs the Mahalanobis distances of a mixture's components by how responsible they are for both rows.",
            "GMM weighs the same distances by the components' shares of all rows.",
            "RBF uses the Euclidean distance.",
            "LAP deforms RBF along a graph of neighbours, unlabelled rows included.",
        )
    ),
    Paragraph(
        "Where the density is the project's own (`--density default`), RWM and GMM use covariances that are shrunk "
        "towards their mean, the more the fewer rows a component has: the mean has the share m / (n + m) for a "
        "component of n rows whose covariance has m numbers. The paper does not do that. The idea came from results on "
        "these data sets, and the rule has no constant to tune; when it was introduced, RWM gained 0.4 points in "
        "experiments 1 and 2 by the optimistic reading. The paper's own density (`--density paper`) has its own page."
    ),
    Paragraph(
        "LAP's settings are rated on rows of its graph (most of them, where the graph cannot hold all training rows), "
        "and test rows are not in it: with a large gamma it may do well along the graph and fail beyond it."
    ),
    Paragraph(
        "In experiment 1 the labelled rows are drawn from dense regions: every component of the density gets its "
        "share, from the denser half of its rows, whichever classes they hit. Three other readings of the paper's "
        "sentence are on the page of labels. Experiment 2 adds random rows to the same ones, up to a tenth of the "
        "training rows, rounded up. Every accuracy is that of an outer cross-validation, whose test folds no choice "
        "ever sees."
    ),
)

NOT_PEEKED = (
    "Training labels (`expected_error`): C and gamma are rated on labelled rows that were left out, and by the "
    "confidence on unlabelled ones. No label outside the training labels is read. This is what a user can have."
)
OPTIMISTIC = (
    "Optimistic (`optimistic`): C and gamma are rated on labelled rows that were left out, and on the labels of "
    "unlabelled rows, which a user does not have. The density has seen no label."
)
CEILING = (
    "Ceiling (`ceiling`): the density of RWM and GMM is chosen in the same way, the best of six: the one found without "
    "labels, and those of five precision priors. RBF and LAP have no density, so the ceiling gives them nothing. This "
    "is what the method could reach with the best density."
)

HOW_TO_READ: tuple[Block, ...] = (
    Paragraph(
        "The paper rates settings on labelled rows that were left out and by an expected error on unlabelled rows, and "
        "does not say how the latter is found without their labels. With a handful of labels that decides a lot. So "
        "each result is there by three readings:"
    ),
    Bullets((NOT_PEEKED, OPTIMISTIC, CEILING)),
    Paragraph(
        "In experiment 3 no training row is unlabelled. There the first two readings are the same, and the ceiling "
        "chooses the density on labelled rows that were left out."
    ),
    Paragraph(
        "TSVM and S3VM (`transductive_svm`, `s3vm`), which the paper's outlook asks for, run in experiments 1 and 2 as "
        "they are by default, with the RWM kernel; they and other learners choose nothing, and their columns are the "
        "same by all readings. Methods are compared on the data sets that all of them have, by mean ranks (1 is the "
        "best), Friedman's test and that of Iman and Davenport, and by Nemenyi's critical difference: two methods "
        "whose mean ranks differ by less do not differ significantly. In a critical difference diagram a thick bar "
        "joins such methods, and the best is to the right."
    ),
)

LABELS: tuple[Block, ...] = (
    Paragraph(
        'The paper says: "we chose samples lying in high density regions randomly", four times as many as classes. '
        "Four readings were fixed before any was run: every component by its share, from the denser half of its rows "
        "(`components`, the default here); the denser half of all rows (`dense`); four of each class from the denser "
        "half of its rows (`dense_per_class`); all rows (`random`). Two classes of Ecoli have two rows, and the paper "
        "counts 32 labels for its eight classes: four of each class cannot be meant literally there, so what is "
        "missing is drawn from the denser half of all rows. The density is the project's own in all of them."
    ),
)

DENSITY: tuple[Block, ...] = (
    Paragraph(
        "The paper chooses the priors alpha0, beta0 and w0 of its density by an exhaustive search without labels, "
        "rated by representativity: the symmetric Kullback-Leibler divergence between the mixture and a Parzen window. "
        "It lists no values. Here alpha0 is 0.001 or 1, beta0 0.1, 1 or 10, w0 0.001, 0.01, 0.1, 1 or 10; both "
        "densities are compared on rows that neither was fitted on, because on rows of the fit the divergence prefers "
        "mixtures that overfit; categories are not compared. No components are merged and no covariance is shrunk. "
        "This page has the results with this density (`--density paper`) beside those with the project's own. The same "
        "rows are labelled for both, so RBF and LAP are the same."
    ),
)

CHOOSERS: tuple[Block, ...] = (
    Paragraph(
        "An observation on the published ranks, with its control. The paper's text leaves open for which kernels "
        "labels of unlabelled rows had a part in the choice of settings and densities. From our own accuracies, ranks "
        "can be computed for any such combination: the density of RWM alone chosen with labels, and, as the control, "
        "that of GMM alone. A combination that comes near the published ranks is no proof that the authors worked so."
    ),
)

DETAILS: tuple[Block, ...] = (
    Paragraph(
        "Details that the paper leaves open, or prints in two ways, and what they change. Keerthi and Lin's line: the "
        "paper's formula has the sign the other way round than its text, which says a slope of minus one; the text is "
        "followed. Alpha and beta: all 120 pairs of 0, 0.1, ..., 1 are tried together with C and gamma for RWM, GMM "
        "and RBF, alpha = 0 (categories alone) included; the further densities of the ceiling are tried with 0, 0.1, "
        "0.3 and 1. LAP needs a graph for each pair and is tried with four: (1, 1), (1, 0.1), (0.1, 1) and (0, 1)."
    ),
)

EVERY_ITEM: tuple[Block, ...] = (
    Paragraph(
        "Every item of the paper, the code that has it, and how far the two agree. The last column names the test, "
        "table or figure that checks it."
    ),
)

STATISTICS: tuple[Block, ...] = (
    Paragraph(
        "Ranks, wins and tests can be computed from the published accuracies alone, without any experiment. This "
        "shows how far the published statistics follow from the published tables."
    ),
)

RUN_TIMES: tuple[Block, ...] = (
    Paragraph(
        "The paper measures four things: the estimation of the density, the kernel matrix among all training rows, the "
        "training of the classifier and its predictions. Ours are measured one after the other, kernels with gamma 1 "
        "and classifiers with C 1; short ones are repeated, and the quickest counts. LAP is built from all training "
        "rows, their graph and their base kernel, and evaluated among the labelled ones, which is what its classifier "
        "needs."
    ),
)

DEFINITENESS: tuple[Block, ...] = (
    Paragraph(
        "A kernel matrix with negative eigenvalues makes training a problem that may have several solutions. "
        "Nothing makes RWM positive semi-definite for every density and every gamma: it averages several metrics with "
        "weights that change from place to place. The paper tested the matrices of its experiments and found no "
        "negative eigenvalue. Here are those of ours."
    ),
)

SETTINGS: tuple[Block, ...] = (
    Paragraph(
        "Every result is kept with the settings that it was computed with, and with the versions and the computer."
    ),
)

OWN_DATA = """\
from mixkern.datasets import read_dataset
from mixkern_study import Store, run

run(Store("paper.sqlite"), data_sets=[read_dataset("mine.csv", target="class").labelled(), "openml:61"])
"""

OWN_METHOD = """\
from mixkern_study import Store, labels_only, run
from sklearn.naive_bayes import GaussianNB

run(Store("paper.sqlite"), kernels=(), baselines={"bayes": labels_only(GaussianNB())})
"""

REPORT = """\
from mixkern_study.report import write_pages, write_report
from mixkern_study import Store

write_report(Store("paper.sqlite"), "paper.html")
write_pages(Store("paper.sqlite"), "pages")  # Markdown, and every table as CSV and LaTeX
"""

HOW_TO_ADD: tuple[Block, ...] = (
    Heading("Adding a data set"),
    Paragraph(
        "Give `run` a table of your own, a CSV with a column of labels, or the name of one on OpenML. It becomes one "
        "more row, and what the store has already is not computed again."
    ),
    Code(OWN_DATA),
    Heading("Adding a method"),
    Paragraph(
        "A `Method` learns from the training rows and their classes (-1 where there is no label), and predicts the "
        "classes of the test rows. `labels_only` makes one of any classifier of scikit-learn, and `all_rows` of one "
        "that takes -1 for unlabelled rows. It becomes one more column."
    ),
    Code(OWN_METHOD),
    Heading("Writing this again"),
    Code(REPORT),
)

NO_RESULTS = Paragraph("There are no results of this experiment in the store yet.")
NO_FIGURES = Paragraph("This was written without figures.")
