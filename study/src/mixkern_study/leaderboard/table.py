"""Tables of the leaderboard: ranking, pairwise tests, accuracies by budget and data set, gain of suggested rows."""

from collections.abc import Iterable, Sequence

from mixkern.report.table import TextTable
from mixkern.wording import counted
from mixkern_study.calibration import N_BINS
from mixkern_study.data_sets import title_of
from mixkern_study.leaderboard.label_draw import Choice
from mixkern_study.leaderboard.ranking import Leaderboard, leaderboard
from mixkern_study.method_list import REFERENCE, title_of_method
from mixkern_study.record import Entry
from mixkern_study.result_table import COUNT, PERCENT, RANK, SECONDS, SMALL, WINS, Cell, is_there

POINTS = "+.2f"
BEST = {"accuracy": max, "balanced_accuracy": max, "ece": min, "log_loss": min, "rank": min, "wins": max, "worst": max}
HONEST = (
    "Each method has seen the labelled training rows and the features of all training rows, and is tested on a fold of "
    "other rows. Methods without support for gaps and categories are given filled gaps and columns of zeros and ones, "
    "and that time is not counted for them. A method that fails is scored as the most frequent label."
)
CALIBRATION = (
    f"ECE: expected calibration error of the probability of the most probable label, in {N_BINS} bins of equal width "
    "that have the test rows of all draws of a data set. Log loss: natural logarithm, over test rows whose class has a "
    "label; smaller probabilities than 0.000001 count as that. A dash: a method without probabilities."
)


def leaderboard_tables(entries: Iterable[Entry], choice: str = Choice.RANDOM) -> list[TextTable]:
    """Return the tables of entries with one choice of labels.

    Parameters
    ----------
    entries : iterable of Entry
        From :meth:`Store.entries`; those of the other choice are needed for the gain of suggested rows.
    choice : {"random", "suggested"}, default="random"
        How the rows that are labelled were chosen.

    Returns
    -------
    list of TextTable
        The ranking; pairwise tests; accuracies by budget and by data set; the gain of suggested rows. Empty tables are
        left out.

    Examples
    --------
    >>> leaderboard_tables([])
    []
    """
    everything = list(entries)
    own = [entry for entry in everything if entry.choice == choice]
    board = leaderboard(own)
    if not board.places:
        return []
    budgets = sorted({entry.budget for entry in own})
    words = f"{labels_words(budgets)}, {choice} rows"
    tables = [ranking_table(board, f"leaderboard_{choice}", words)]
    if board.comparisons:
        tables.append(comparison_table(board, f"comparisons_{choice}", words))
    if len(budgets) > 1:
        tables.append(_budget_table(own, budgets, board.methods, choice))
    tables.append(_data_set_table(board, choice, words))
    both = {entry.choice for entry in everything}
    if choice == Choice.SUGGESTED and both == set(Choice):
        tables.append(advice_table(everything))
    return [table for table in tables if table.rows]


def labels_words(budgets: Sequence[int]) -> str:
    """Return budgets as text.

    >>> labels_words([4]), labels_words([2, 4, 8])
    ('4 labels per class', '2, 4 or 8 labels per class')
    """
    texts = [str(budget) for budget in budgets]
    joined = f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else texts[0]
    return f"{joined} {'label' if texts == ['1'] else 'labels'} per class"


def ranking_table(board: Leaderboard, name: str, words: str) -> TextTable:
    """Return the ranking of all methods, the best mean accuracy first."""
    best = {
        part: pick((getattr(place, part) for place in board.places if is_there(getattr(place, part))), default=None)
        for part, pick in BEST.items()
    }

    def cell(value: float, part: str, spec: str) -> Cell:
        return Cell(value, spec=spec, is_best=value == best[part])

    is_calibrated = any(is_there(place.ece) for place in board.places)
    calibration = f"{CALIBRATION} " if is_calibrated else ""
    rows = [
        (
            Cell(title_of_method(place.method)),
            cell(place.accuracy, "accuracy", PERCENT),
            cell(place.balanced_accuracy, "balanced_accuracy", PERCENT),
            *((cell(place.ece, "ece", PERCENT), cell(place.log_loss, "log_loss", RANK)) if is_calibrated else ()),
            cell(place.rank, "rank", RANK),
            cell(place.wins, "wins", WINS),
            cell(place.worst, "worst", POINTS),
            Cell(title_of(place.worst_set) if place.worst_set else None),
            Cell(place.seconds, spec=SECONDS),
            Cell(float(place.n_failed), spec=COUNT),
        )
        for place in board.places
    ]
    return TextTable(
        name=name,
        title=f"Leaderboard, {words}",
        caption=(
            f"Means over {counted(len(board.data_sets), 'data set')} of {counted(board.n_draws, 'draw')} or more each, "
            "in percent. Worst: the largest loss against SVC, which sees the labelled rows alone, in "
            f"percentage points. {calibration}Seconds: of one core, for one whole fit and its predictions. "
            f"{HONEST}{_friedman(board)}{_left_out(board)}"
        ),
        columns=(
            "Method",
            "Accuracy",
            "Balanced",
            *(("ECE", "Log loss") if is_calibrated else ()),
            "Rank",
            "Wins",
            "Worst",
            "On",
            "Seconds",
            "Failed",
        ),
        rows=tuple(rows),
    )


def comparison_table(board: Leaderboard, name: str, words: str) -> TextTable:
    """Return the comparison of the default MixtureSVC with every other method."""
    rows = [
        (
            Cell(title_of_method(each.method)),
            Cell(each.difference, spec=POINTS),
            Cell(each.effect, spec=POINTS),
            Cell(each.p_value, spec=SMALL),
            Cell(each.corrected_p, spec=SMALL),
        )
        for each in board.comparisons
    ]
    return TextTable(
        name=name,
        title=f"{title_of_method(REFERENCE)} against others, {words}",
        caption=(
            f"Over {counted(len(board.data_sets), 'data set')}. Difference: its mean accuracy "
            "minus that of the other, in percentage points. Effect: matched-pairs rank-biserial correlation, +1 where "
            "it is better on all data sets. p: Wilcoxon's signed-rank test, two-sided; Holm: corrected for the number "
            "of comparisons."
        ),
        columns=("Method", "Difference", "Effect", "p", "Holm"),
        rows=tuple(rows),
    )


def _budget_table(entries: list[Entry], budgets: Sequence[int], methods: Sequence[str], choice: str) -> TextTable:
    boards = [leaderboard(entries, budgets=[budget]) for budget in budgets]
    columns = [_accuracies(board) for board in boards]
    rows = [
        (
            Cell(title_of_method(method)),
            *(
                Cell(found.get(method), is_best=bool(found) and found.get(method) == max(found.values()))
                for found in columns
            ),
        )
        for method in methods
    ]
    return TextTable(
        name=f"budgets_{choice}",
        title=f"Mean accuracy by labels per class, {choice} rows",
        caption="In percent, over the data sets that all methods have finished. The best of a column is bold.",
        columns=("Method", *map(str, budgets)),
        rows=tuple(rows),
    )


def _accuracies(board: Leaderboard) -> dict[str, float]:
    return {place.method: place.accuracy for place in board.places}


def _data_set_table(board: Leaderboard, choice: str, words: str) -> TextTable:
    rows = [
        (Cell(title_of(name)), *(Cell(float(value), is_best=value == row.max()) for value in row))
        for name, row in zip(board.data_sets, board.accuracy, strict=True)
    ]
    means = board.accuracy.mean(axis=0)
    return TextTable(
        name=f"data_sets_{choice}",
        title=f"Accuracy by data set, {words}",
        caption="In percent, means over draws. The best of a row is bold.",
        columns=("Data set", *map(title_of_method, board.methods)),
        rows=tuple(rows),
        footer=((Cell("Mean"), *(Cell(float(mean), is_best=mean == means.max()) for mean in means)),),
    )


def advice_table(entries: Sequence[Entry]) -> TextTable:
    """Return the gain of suggested rows over random ones, by labels per class."""
    budgets = sorted({entry.budget for entry in entries})
    gains = [_gains(entries, [budget]) for budget in budgets]
    overall = _gains(entries, budgets)
    order = sorted(overall, key=lambda method: -overall[method])
    rows = [
        (
            Cell(title_of_method(method)),
            *(Cell(found.get(method), spec=POINTS) for found in gains),
            Cell(overall[method], spec=POINTS),
        )
        for method in order
    ]
    return TextTable(
        name="advice",
        title="What suggested rows gain over random ones",
        caption=(
            "Mean accuracy with as many labels, on rows that mixkern has suggested without a label, minus that on "
            "random rows; in percentage points, over the data sets that all methods have finished with both."
        ),
        columns=("Method", *map(str, budgets), "All"),
        rows=tuple(rows),
    )


def _gains(entries: Sequence[Entry], budgets: Sequence[int]) -> dict[str, float]:
    by_choice = {choice: leaderboard(entries, budgets=budgets, choices=[choice]) for choice in Choice}
    common = [name for name in by_choice[Choice.RANDOM].data_sets if name in by_choice[Choice.SUGGESTED].data_sets]
    random, suggested = (
        _accuracies(leaderboard(entries, budgets=budgets, choices=[choice], data_sets=common))
        for choice in (Choice.RANDOM, Choice.SUGGESTED)
    )
    return {method: suggested[method] - random[method] for method in random if method in suggested}


def _friedman(board: Leaderboard) -> str:
    return "" if board.test is None else f" Friedman's test: p = {board.test.p_value:{SMALL}}."


def _left_out(board: Leaderboard) -> str:
    if not board.left_out:
        return ""
    names = ", ".join(title_of(name) for name in board.left_out)
    return f" Not finished by all methods and left out: {names}."
