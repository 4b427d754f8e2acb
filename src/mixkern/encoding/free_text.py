"""Texts of several words, such as comments, as a few columns of numbers.

Each text is a vector of its n-grams of characters, weighted by TF-IDF. Its coordinates along the principal directions
of these vectors are the encoded columns. There are as many as have a larger variance than any direction of the same
texts with their words shuffled (parallel analysis): what words that occur together have in common, beyond chance. But
there are two, if the texts differ in as many, because the first one mostly measures the length of a text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mixkern.encoding.cell import Kind
from mixkern.encoding.column import ContinuousColumn
from mixkern.encoding.grammar import is_gap_word
from mixkern.encoding.raw_column import RawColumn
from mixkern.errors import TableError
from mixkern.parts import model_part
from mixkern.sampling import subsample
from mixkern.typing import Floats, RandomState

FEWEST_WORDS = 3  # half of the texts or more have as many: shorter ones are names or keys
FEWEST_COLUMNS, MOST_COLUMNS = 2, 10  # the first one mostly measures the length of texts
NGRAMS = (3, 4)  # characters, within words
MOST_NGRAMS = 2048  # the most frequent ones
SAMPLE = 4_000  # texts that the directions are learned from
LONGEST = 1_000  # characters that are read of a text
BLOCK = 20_000  # texts that are encoded at a time
CHECKED = 1_000  # texts whose words are counted
ROUNDING = 1e-12  # a smaller variance is none: the vectors have length 1
TYPICAL_NGRAMS = 40  # that describe a point among the texts
TYPICAL_PARTS = 3  # of words, made of them

_WORD = re.compile(r"[^\W\d_]{2,}")


def are_free_texts(texts: Sequence[str]) -> bool:
    """Return whether at least half of some texts have three words or more, each of two letters or more.

    >>> are_free_texts(["It came late", "Works as it should"]), are_free_texts(["k-0017", "Ann Lee"])
    (True, False)
    """
    few = texts[:: max(len(texts) // CHECKED, 1)]
    n_words = [sum(1 for _ in _WORD.finditer(text[:LONGEST])) for text in few]
    return bool(few) and float(np.median(n_words)) >= FEWEST_WORDS


@model_part("TextColumn")
@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of texts of several words: n-grams, their weights, and the directions of the encoded columns."""

    name: str
    kind: Kind
    ngrams: tuple[str, ...]
    weights: Floats  # (m,): inverse document frequency of each n-gram
    directions: Floats  # (k, m)
    columns: tuple[ContinuousColumn, ...]  # the k encoded columns
    remark: str = ""
    n_gaps: int = 0

    def __post_init__(self) -> None:
        m, k = len(self.ngrams), len(self.columns)
        is_valid = 0 < len(set(self.ngrams)) == m and self.weights.shape == (m,) and self.directions.shape == (k, m)
        if not (is_valid and k and np.isfinite(self.weights).all() and np.isfinite(self.directions).all()):
            raise TableError(f"The n-grams of column {self.name!r} are not valid.")
        for name in ("weights", "directions"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextColumn):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.name, self.ngrams, self.columns))

    @classmethod
    def fit(cls, raw: RawColumn, remark: str = "") -> "TextColumn":
        """Learn n-grams, weights and directions from the texts, or from a sample of them where they are many."""
        cells = raw.coded().mapped(_text)
        rows = sorted(cells.all_cells())  # independent of their order
        texts = [rows[i] for i in subsample(np.arange(len(rows)), SAMPLE, RandomState(0)).tolist()]
        vectorizer = _vectorizer(max_features=MOST_NGRAMS)
        vectors = vectorizer.fit_transform(texts)
        directions = _directions(vectors, vectorizer.transform(shuffled_words(texts, RandomState(0))))
        names = [f"{raw.name}: text {j + 1}" for j in range(len(directions))]
        n_gaps = cells.n_gaps()
        columns = tuple(
            replace(
                ContinuousColumn.fit(RawColumn(name, Kind.NUMBER, values), f"of {raw.name!r}"),
                n_values=len(rows),
                n_gaps=n_gaps,
            )
            for name, values in zip(names, (vectors @ directions.T).T.copy(), strict=True)
        )
        ngrams = tuple(vectorizer.get_feature_names_out().tolist())
        return cls(raw.name, raw.kind, ngrams, vectorizer.idf_, directions, columns, remark, n_gaps)

    @property
    def parts(self) -> tuple[ContinuousColumn, ...]:
        """The encoded columns."""
        return self.columns

    def renamed(self, names: Sequence[str]) -> "TextColumn":
        """Return the column with other names of its encoded columns."""
        return replace(
            self, columns=tuple(replace(part, name=name) for part, name in zip(self.columns, names, strict=True))
        )

    def derived(self, raw: RawColumn) -> list[RawColumn]:
        """Return the cells of each encoded column."""
        cells = raw.coded().mapped(_text)
        found = np.empty((len(cells.distinct), len(self.columns)))
        for start in range(0, len(found), BLOCK):
            found[start : start + BLOCK] = self._vectors(cells.distinct[start : start + BLOCK]) @ self.directions.T
        return [
            RawColumn(part.name, Kind.NUMBER, cells.taken(values, np.nan, float), raw.place)
            for part, values in zip(self.columns, found.T, strict=True)
        ]

    def typical_words(self, values: Floats) -> list[str]:  # (n, k)
        """Return the parts of words that texts at given values of the encoded columns have more than others.

        Texts cannot be decoded from these values, but described by the n-grams that they point to.
        """
        centre = np.array([part.origin + part.mean for part in self.columns])
        weights = np.nan_to_num(values - centre) @ self.directions  # (n, m)
        order = np.argsort(-weights, axis=1, kind="stable")[:, :TYPICAL_NGRAMS]
        heavy = [[self.ngrams[j] for j in best if row[j] > 0] for row, best in zip(weights, order, strict=True)]
        return [", ".join(sorted(joined(ngrams), key=len, reverse=True)[:TYPICAL_PARTS]) for ngrams in heavy]

    def _vectors(self, texts: list[str]) -> csr_array:  # (n, m)
        from sklearn.feature_extraction.text import TfidfTransformer

        words, codes, ends = _split(texts)
        of_words = _vectorizer("CountVectorizer", vocabulary=self.ngrams).transform(words)
        # The n-grams of a text are those of its words, and most words occur in many texts.
        counts = csr_array((np.ones(len(codes)), codes, ends), shape=(len(texts), len(words))) @ of_words
        weighting = TfidfTransformer(sublinear_tf=True)
        weighting.idf_ = self.weights
        return weighting.transform(counts)


def _split(texts: list[str]) -> tuple[list[str], list[int], list[int]]:
    """Return the distinct words of texts, the codes of all words in order, and where each text ends.

    >>> _split(["a B", "b"])
    (['a', 'b'], [0, 1, 1], [0, 2, 3])
    """
    known: dict[str, int] = {}
    codes: list[int] = []
    ends = [0]
    for text in texts:
        codes += [known.setdefault(word, len(known)) for word in text.lower().split()]
        ends.append(len(codes))
    return list(known), codes, ends


def _vectorizer(kind: str = "TfidfVectorizer", **settings: Any) -> Any:
    """Return a vectorizer of n-grams; it is imported here, because few tables have texts."""
    from sklearn.feature_extraction import text

    if kind == "TfidfVectorizer":
        settings["sublinear_tf"] = True
    return getattr(text, kind)(analyzer="char_wb", ngram_range=NGRAMS, **settings)


def _text(cell: str) -> str | None:
    """Return what is read of a text, ``None`` for a word for a gap."""
    return None if is_gap_word(cell) else cell[:LONGEST]


def _directions(vectors: csr_array, shuffled: csr_array) -> Floats:  # (k, m)
    """Return the principal directions with more variance than shuffled texts have in any; two, if there are as many.

    Texts that are all the same have none; their one column is 0.
    """
    variances, directions = _principal(vectors, min(MOST_COLUMNS, *(n - 1 for n in vectors.shape)))
    chance, _ = _principal(shuffled, 1)
    n = int((variances > chance.max(initial=0.0)).sum())
    found = directions[: max(n, FEWEST_COLUMNS)]
    return found if len(found) else np.zeros((1, vectors.shape[1]))


def _principal(vectors: csr_array, most: int) -> tuple[Floats, Floats]:  # (k,), (k, m)
    """Return the largest variances of vectors, and their directions."""
    from sklearn.decomposition import PCA

    mean = np.asarray(vectors.mean(axis=0)).ravel()
    if vectors.power(2).sum() / vectors.shape[0] - mean @ mean < ROUNDING:  # the sum of all variances
        return np.empty(0), np.empty((0, vectors.shape[1]))
    found = PCA(most, svd_solver="arpack", random_state=0).fit(vectors)
    is_there = found.explained_variance_ > ROUNDING
    return found.explained_variance_[is_there], found.components_[is_there]


def shuffled_words(texts: Sequence[str], random: RandomState) -> list[str]:
    """Return texts of as many words, which are those of all texts in random order.

    >>> shuffled_words(["a b", "c"], RandomState(0))
    ['c b', 'a']
    """
    split = [text.split() for text in texts]
    words = iter(random.permutation(np.array([word for each in split for word in each], dtype=object)).tolist())
    return [" ".join(next(words) for _ in each) for each in split]


def joined(ngrams: Sequence[str]) -> list[str]:
    """Join n-grams that overlap in three characters or more into longer parts of words.

    >>> joined([" lat", "ate ", "slow", "late", "low "])
    ['late', 'slow']
    """
    parts: list[str] = []
    for ngram in ngrams:
        merged = ngram
        is_new = True
        while is_new:
            is_new = False
            for part in parts:
                longer = _overlapped(part, merged) or _overlapped(merged, part)
                if longer:
                    parts.remove(part)
                    merged, is_new = longer, True
                    break
        parts.append(merged)
    return [part.strip(" .,;:!?\"'()") for part in parts]


def _overlapped(left: str, right: str) -> str:
    """Return two texts that overlap as one, empty where they do not.

    >>> _overlapped("late", "ate "), _overlapped("slow", "low"), _overlapped("slow", "late")
    ('late ', 'slow', '')
    """
    if right in left:
        return left
    sizes = range(min(len(left), len(right)) - 1, NGRAMS[0] - 1, -1)
    n = next((size for size in sizes if left.endswith(right[:size])), 0)
    return left + right[n:] if n else ""
