"""Texts of the report that do not depend on results."""

from mixkern.report.blocks import Block, Bullets, Code, Heading, Paragraph

TITLE = "RWM kernels: the paper's experiments, run again"

INTRODUCTION: tuple[Block, ...] = (
    Paragraph(
        "Reitmaier and Sick (The responsibility weighted Mahalanobis kernel for semi-supervised training of support "
        "vector machines for classification, 2015) propose a kernel that takes its distances from a mixture density "
        "of all rows, labelled or not. They compare it with three others in support vector machines on twenty data "
        "sets. Here the same experiments are run again, and each figure stands beside the published one."
    ),
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
        "these data sets, and the rule has no constant to tune; without it, RWM had 0.4 points less in experiments 1 "
        "and 2 by the optimistic reading."
    ),
    Paragraph(
        "LAP's settings are rated on rows of its graph (most of them, where the graph cannot hold all training rows), "
        "and test rows are not in it: with a large gamma it may do well along the graph and fail beyond it."
    ),
    Paragraph(
        "Experiment 1 has four times as many labels as classes, drawn from dense regions, whichever classes they hit; "
        "experiment 2 has a tenth of the training rows labelled, experiment 3 all of them. Every accuracy is that of "
        "an outer cross-validation, whose test folds no choice ever sees."
    ),
)

NOT_PEEKED = (
    "No label peeked at (`expected_error`): C and gamma are rated on labelled rows that were left out, and by the "
    "confidence on unlabelled ones. No label outside the training labels is read. This is what a user can have."
)
OPTIMISTIC = (
    "Optimistic (`optimistic`): C and gamma are rated on labelled rows that were left out, and on the labels of "
    "unlabelled rows, which a user does not have. The density has seen no label."
)
CEILING = (
    "Ceiling (`ceiling`): the prior of the density is chosen in the same way. This is what the method could reach with "
    "the best density."
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
        "chooses the density's prior on labelled rows that were left out."
    ),
    Paragraph(
        "Other learners, where there are any, run as they are by default and choose nothing; their columns are the "
        "same by all readings. Methods are compared on the data sets that all of them have, by mean ranks (1 is the "
        "best), Friedman's test and that of Iman and Davenport, and by Nemenyi's critical difference: two methods "
        "whose mean ranks differ by less do not differ significantly. In a critical difference diagram a thick bar "
        "joins such methods, and the best is to the right."
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
