"""What the labelling page shows, as values for JSON: cards of rows, the state of the session, lists, the map."""

import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mixkern.labelling.column_summary import column_summaries
from mixkern.labelling.journal import Action, Event, Source
from mixkern.labelling.learner import UNKNOWN, Doubt, Model, Structure, shares_of
from mixkern.labelling.row_key import packed
from mixkern.labelling.session import FEWEST_IN_COMPONENT, LabelSession
from mixkern.plot.projection import Projection
from mixkern.typing import Floats, RandomState
from mixkern.wording import counted, percent, shortened

LONGEST_CELL = 2_000  # letters of a cell on a card
LONGEST_WHOLE = 200_000  # letters of a cell that is shown whole
N_NEAREST, N_COMPARED = 3, 6  # labelled rows beside a card, and columns of each
N_HISTORY, N_SHOWN = 50, 4  # events of a page of the history, and columns that a row is recognised by
SMALL_GAIN, FEWEST_FOR_ADVICE = 0.01, 20
OUTER = 0.002  # share of the rows beyond each side of the map, which are moved to its edge


class Cards:
    """The contents of the page.

    Parameters
    ----------
    session : LabelSession
        The session.
    """

    def __init__(self, session: LabelSession) -> None:
        self.session, self.table = session, session.table
        self._summaries = column_summaries(session.table)
        self._learned = [at for at, summary in enumerate(self._summaries) if summary.kind != "other"]
        self._places: tuple[int, bytes] = (0, b"")  # version of the structure, and the map

    # ---------------------------------------------------------------- cards

    def next_cards(self, user: str, n: int = 1, held: Collection[int] = ()) -> list[dict[str, Any]]:
        """Reserve rows for a person, and return their cards."""
        cards, rows = [], set(held)
        for _ in range(n):
            found = self.session.next_row(user, rows)
            if found is None:
                break
            row, reservation = found
            rows.add(row)
            cards.append(self.card(user, row, reservation.source, reservation.reason))
        return cards

    def card(self, user: str, row: int, source: str = Source.CHOSEN, reason: str = "") -> dict[str, Any]:
        """Return the card of a row."""
        session, model, structure = self.session, self.session.learner.model, self.session.learner.structure
        with session.lock:
            own, names = session.answers.answer_of(row, user), session.answers.names_id
            has_labels = bool(session.labels)
        card: dict[str, Any] = {
            "row": row,
            "key": self.table.keys[row],
            "number": row + 1,
            "names": names,
            "source": str(source),
            "reason": reason,
            "own_action": None if own is None else own.action,
            "own_label": own.label if own is not None and own.action == Action.LABEL else None,
            "values": [self._value(at, row) for at in range(len(self._summaries))],
            "guess": None,
            "nearest": None if has_labels else [],
            "component": None,
        }
        if structure is not None:
            encoded = structure.rows_at(self.table, np.array([row]))
            card["component"] = self._component(structure, model, row, int(encoded.responsibilities[0].argmax()))
            if model is not None and model.structure is structure:
                card["guess"] = self._guess(model, shares_of(model, encoded))
                card["nearest"] = self._nearest(model, row, encoded)
            elif has_labels:
                card["component"]["labels"] = None  # not known yet, as the nearest ones
        return card

    def _value(self, at: int, row: int) -> dict[str, Any]:
        """Return one cell of a card."""
        text = self.table.cells.column(at)[row].as_py()
        summary = self._summaries[at]
        return {
            "column": self.table.columns[at],
            "text": "" if text is None else text[:LONGEST_CELL],
            "is_gap": self.table.is_gap(self.table.columns[at], row),
            "is_cut": text is not None and len(text) > LONGEST_CELL,
            "length": 0 if text is None else len(text),
            "kind": summary.kind,
            "histogram": None,
            "share": None,
            "common": None,
            **summary.facts(row),
        }

    def cell(self, row: int, at: int) -> str:
        """Return the whole text of a cell, up to a limit."""
        text: str | None = self.table.cells.column(at)[row].as_py()
        return "" if text is None else text[:LONGEST_WHOLE]

    def _names(self, model: Model) -> list[str]:
        """Return the present name of each code of a model: classes may have been renamed or merged since."""
        return self.session.class_names(model.classes)

    def _guess(self, model: Model, found: Any) -> dict[str, Any] | None:
        if found is None:
            return None
        names, shares = self._names(model), defaultdict[str, float](float)
        for code, share in zip(*found, strict=True):
            shares[names[code]] += float(share)
        sorted_shares = sorted(shares.items(), key=lambda each: -each[1])
        first, *others = [{"label": name, "probability": share} for name, share in sorted_shares]
        return {**first, "others": others}

    def _nearest(self, model: Model, row: int, encoded: Any) -> list[dict[str, Any]]:
        """Return the labelled rows that are most similar to a row."""
        others = np.flatnonzero(model.positions != row)
        if not len(others):
            return []
        similarity = np.asarray(model.kernel(encoded, model.labelled[others]))[0]
        names, found = self._names(model), []
        for i in np.argsort(-similarity, kind="stable")[:N_NEAREST]:
            other = int(model.positions[others[i]])
            found.append(
                {
                    "row": other,
                    "number": other + 1,
                    "label": names[model.codes[others[i]]],
                    "similarity": float(similarity[i]),
                    "values": self._texts(other, self._differing(row, other)),
                }
            )
        return found

    def _shown(self, row: int, n: int) -> list[dict[str, Any]]:
        """Return the first columns of a row that are learned from, to recognise it by."""
        return self._texts(row, self._learned[:n])

    def _differing(self, row: int, other: int) -> list[int]:
        """Return the columns in which two rows differ most, the largest difference first."""
        return sorted(self._learned, key=lambda at: -self._summaries[at].difference(row, other))[:N_COMPARED]

    def _texts(self, row: int, columns: Iterable[int]) -> list[dict[str, Any]]:
        cells = [(self.table.columns[at], self.table.cells.column(at)[row].as_py()) for at in columns]
        return [
            {
                "column": name,
                "text": "" if text is None else shortened(text, 60),
                "is_gap": self.table.is_gap(name, row),
            }
            for name, text in cells
        ]

    def _component(self, structure: Structure, model: Model | None, row: int, k: int) -> dict[str, Any]:
        """Return facts about a row's component, and whether it may be labelled as a whole."""
        n = int(structure.sizes[k])
        if not structure.is_complete:
            n = round(n / len(structure.rows) * len(self.table))
        labels: dict[str, int] = {}
        if model is not None and model.structure is structure and len(model.positions):
            component, names = model.labelled.responsibilities.argmax(axis=1), self._names(model)
            for code in model.codes[component == k].tolist():
                labels[names[code]] = labels.get(names[code], 0) + 1
        offer = 0
        if len(labels) == 1 and sum(labels.values()) >= FEWEST_IN_COMPONENT:
            offer = len(self.session.typical_rows(row)) if structure.is_complete else 0
        return {"number": k, "rows": n, "labels": labels, "offer": offer, "label": next(iter(labels), None)}

    # ---------------------------------------------------------------- state and lists

    def nothing_left(self) -> str:
        """Return why there is no further card."""
        n = len(self.table) - len(self.session.labels)
        if not n:
            return "Every row has a label."
        was, on = ("was", "is") if n == 1 else ("were", "are")
        return f"{counted(n, 'row')} without a label {was} skipped, or {on} on the screen of a person."

    def classes(self) -> dict[str, Any]:
        """Return the classes with their numbers, those that were merged, and the last event that changed their names.

        A card that was made before this event may have former names.
        """
        with self.session.lock:
            names, in_table = self.session.answers.names, set(self.session.given.values())
            counts = Counter(self.session.labels.values())
            return {
                "classes": [
                    {"number": number, "name": name, "count": counts[name], "in_table": name in in_table}
                    for number, name in zip(names.numbers, names.current, strict=True)
                ],
                "merged": names.merged,
                "names": self.session.answers.names_id,
            }

    def state(self, user: str) -> dict[str, Any]:
        """Return the state of the session for one person."""
        with self.session.lock:
            self.session.read_journal()  # other processes may have written, too
            return self._state(user)

    def _state(self, user: str) -> dict[str, Any]:
        session, learner = self.session, self.session.learner
        answers, model, structure = session.answers, learner.model, learner.structure
        labels, users = session.labels, answers.users()
        estimate = None if model is None else model.estimate
        agreement = session.agreement()
        is_ready = structure is not None and structure.is_complete
        return {
            "table": self.table.name,
            "target": self.table.target,
            "rows": len(self.table),
            "digest": self.table.digest,
            "user": user,
            **self.classes(),
            "counts": {
                "labels": len(labels),
                "skipped": answers.count(Action.SKIP),
                "unsure": answers.count(Action.UNSURE),
                "random": sum(answers.origin(row) == Source.RANDOM for row in answers.labels),
                "mine": users.get(user, 0),
            },
            "stage": "ready" if is_ready else "sample" if structure is None else "learning",
            "stage_text": self._stage_text(structure),
            "structure": 0 if structure is None else structure.version,
            "model": self.prediction_version(),
            "has_nearest": model is not None and model.structure is structure,
            "events": answers.version,
            "version": answers.version if len({*labels.values()}) > 1 else 0,
            "estimate": None if estimate is None else _estimate(estimate),
            "curve": [
                {"labels": point.n_labels, "value": point.value, "low": point.low, "high": point.high}
                for point in session.journal.estimates()
                if point.n_labels <= len(labels)
            ],
            "advice": _advice(estimate),
            "components": self._components(structure, model),
            "users": [{"name": name, "labels": n} for name, n in users.items()],
            "agreement": None
            if agreement is None
            else {
                "rows": agreement.n_rows,
                "equal": agreement.n_equal,
                "kappa": agreement.kappa,
                "sentence": agreement.sentence,
            },
            "n_doubts": 0 if model is None else len(model.doubts),
            "n_disagreements": len(session.disagreements()),
        }

    def _stage_text(self, structure: Structure | None) -> str:
        if self.session.learner.error:
            return f"The model could not be updated. Labels are still saved. {self.session.learner.error}"
        rows = counted(len(self.table), "row")
        if structure is None:
            return f"Learning the structure of {rows}."
        if not structure.is_complete:
            return f"Learning the structure of {rows}; suggestions come from a sample so far."
        return f"The structure was learned from {rows}."

    def _components(self, structure: Structure | None, model: Model | None) -> dict[str, int]:
        if structure is None:
            return {"total": 0, "without_label": 0}
        present = set(np.flatnonzero(structure.sizes).tolist())
        labelled: set[int] = set()
        if model is not None and model.structure is structure and len(model.positions):
            labelled = set(model.labelled.responsibilities.argmax(axis=1).tolist())
        return {"total": len(present), "without_label": len(present - labelled)}

    def history(self, user: str, before: int | None = None) -> dict[str, Any]:
        """Return the answers of a person that are not undone, the newest first."""
        with self.session.lock:
            past = self.session.answers.history(user)
        events = [each for each in past if before is None or each.id < before]
        page = events[:N_HISTORY]
        return {"events": [self._past(each) for each in page], "more": len(events) > len(page)}

    def _past(self, event: Event) -> dict[str, Any]:
        row = self.table.positions.get(event.row_key)
        shown = [] if row is None else self._shown(row, N_SHOWN)
        return {
            "id": event.id,
            "row": row,
            "number": None if row is None else row + 1,
            "action": event.action,
            "label": event.label,
            "source": event.source,
            "at": event.at,
            "text": ", ".join(f"{each['column']} {each['text'] or 'gap'}" for each in shown),
        }

    def doubts(self) -> list[dict[str, Any]]:
        """Return the labels that the others contradict."""
        model = self.session.learner.model
        return [] if model is None else [self._doubt(each, self._names(model)) for each in model.doubts]

    def _doubt(self, doubt: Doubt, names: Sequence[str]) -> dict[str, Any]:
        likely = names[doubt.likely]
        return {
            "row": doubt.row,
            "number": doubt.row + 1,
            "label": names[doubt.label],
            "likely": likely,
            "probability": doubt.probability,
            "reason": f"The other labels predict {likely!r} with {percent(doubt.support)}.",
        }

    def disagreements(self) -> list[dict[str, Any]]:
        """Return the rows that persons have labelled differently."""
        return [
            {
                "row": row,
                "number": row + 1,
                "labels": [{"user": user, "label": label} for user, label in sorted(labels.items())],
            }
            for row, labels in self.session.disagreements().items()
        ]

    # ---------------------------------------------------------------- map

    def map_bytes(self) -> tuple[int, bytes]:
        """Return the version of the structure, and the map.

        The map is the number of its rows, their positions in the table, their places and their keys, all little-endian:
        uint32, uint32, pairs of float32 from -1 to 1, and :func:`~mixkern.labelling.row_key.packed` keys.
        """
        structure = self.session.learner.structure
        if structure is None:
            return 0, struct.pack("<I", 0)
        if self._places[0] != structure.version:
            rows = structure.map_rows.values
            plane = Projection.of(structure.estimator.mixture_, rows)
            places = _framed(plane.places(rows, RandomState(0)))
            positions = structure.positions[structure.on_map].astype("<u4")
            keys = packed(self.table.keys[position] for position in positions.tolist())
            content = struct.pack("<I", len(positions)) + positions.tobytes() + places.astype("<f4").tobytes() + keys
            self._places = structure.version, content
        return self._places

    def prediction_version(self) -> int:
        """Return the version of the model that rows on the map are predicted by; 0 where there is none yet."""
        structure, model = self.session.learner.structure, self.session.learner.model
        is_there = model is not None and model.structure is structure and model.estimator is not None
        return model.version if model is not None and is_there else 0

    def prediction_bytes(self) -> tuple[int, bytes]:
        """Return the version of the model, and three blocks of bytes: class, confidence and label of each row.

        The rows are those of the map. Classes are given by their numbers; 255 is no class, or one of a higher number.
        """
        with self.session.lock:  # labels and classes are of one moment, also while a class is renamed
            return self._prediction_bytes()

    def _prediction_bytes(self) -> tuple[int, bytes]:
        structure, model = self.session.learner.structure, self.session.learner.model
        if structure is None:
            return 0, b""
        positions = structure.positions[structure.on_map]
        given = np.full(len(positions), UNKNOWN, dtype=np.uint8)
        names = self.session.answers.names
        codes = {name: min(number, UNKNOWN) for number, name in zip(names.numbers, names.current, strict=True)}
        labels = self.session.labels
        rows = np.array(sorted(labels), dtype=np.intp)
        at = np.minimum(np.searchsorted(positions, rows), len(positions) - 1)
        for place, row in zip(at.tolist(), rows.tolist(), strict=True):
            if positions[place] == row:
                given[place] = codes[labels[row]]
        predicted = np.full(len(positions), UNKNOWN, dtype=np.uint8)
        confidence, version = np.zeros(len(positions), dtype=np.uint8), 0
        if model is not None and model.structure is structure and model.estimator is not None:
            numbers = np.full(UNKNOWN + 1, UNKNOWN, dtype=np.uint8)  # of each code of the model
            known = [codes[name] for name in self._names(model)[:UNKNOWN]]
            numbers[: len(known)] = known
            predicted, confidence, version = numbers[model.predicted], model.confidence, model.version
        return version, predicted.tobytes() + confidence.tobytes() + given.tobytes()


def _framed(places: Floats) -> Floats:  # (n, 2)
    """Scale places to -1 to 1; the few beyond are moved to the edge."""
    low, high = np.quantile(places, OUTER, axis=0), np.quantile(places, 1 - OUTER, axis=0)
    width = np.where(high > low, high - low, 1.0)
    framed: Floats = np.clip(1.9 * (places - low) / width - 0.95, -1, 1)
    return framed


def _estimate(estimate: Any) -> dict[str, Any]:
    low, high = (None, None) if estimate.interval is None else estimate.interval
    return {
        "value": estimate.value,
        "low": low,
        "high": high,
        "labels": estimate.n_labels,
        "sentences": list(replace(estimate, baseline=None, gain=None).sentences),  # the gain is the advice
    }


def _advice(estimate: Any) -> str:
    """Return whether more labels pay."""
    if estimate is None or estimate.gain is None or estimate.n_labels < FEWEST_FOR_ADVICE:
        return ""
    if estimate.gain < SMALL_GAIN:
        return "Ten more labels are expected to raise the accuracy by less than a point: more labels hardly pay."
    points = counted(round(100 * estimate.gain), "point")
    return f"Ten more labels are expected to raise the accuracy by about {points}: go on."
