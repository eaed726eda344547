"""One run of ``mondegreen privatize``: its promise, its files, its report."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import (
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, final

import click

from mondegreen.cli.before_after import FirstTexts
from mondegreen.cli.other_columns import warn_of_other_columns
from mondegreen.cli.other_language import warn_of_other_language
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.wording import amount, round_up

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.attacks.context import ContextCertificate
    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSink, AbstractSource
    from mondegreen.passes import Pass, RunLoss
    from mondegreen.privatizer.ledger import BatchLedger, LedgerWriter
    from mondegreen.privatizer.privatizer import Privatizer


_MOST_NAMES: Final = 20
"""Columns that the last line names."""

_DIGITS: Final = 6
_EARLIER: Final = (
    " per_row and per_id cover this run alone. all_passes adds the losses of all runs."
)
_NO_EARLIER: Final = (
    " all_passes knows of no earlier run. If there was one, name its report with "
    "--earlier."
)
_NOT_KNOWN: Final = (
    "not known, because one of the runs states no loss, or promises nothing"
)


@final
class Releaser:
    """Releases the files of a run, one after the other, under one promise.

    The order of calls is :meth:`survey` for each file, :meth:`begin`, then within
    :meth:`progress` :meth:`release`, :meth:`finish` and :meth:`note_output` for each
    file, then :meth:`report`, :meth:`say_done`.

    Parameters
    ----------
    first : FirstTexts
        Which texts a terminal shows, before and after.
    certified : FirstTexts
        Which texts the report counts what their context gives away of.
    earlier : sequence of Pass
        What a report says of earlier runs over the input.
    earlier_rows : int, optional
        How many rows that report is about, where it says so.
    carried : sequence of str
        What the release discloses because it carries annotations.
    counts_ids : bool
        Whether the report states the loss by record id.
    ledger : LedgerWriter, optional
        Where each release is counted before it is written; it must be open.
    quiet, verbose : bool
        Print warnings alone, or the whole guarantee.
    """

    privatizer: Privatizer

    def __init__(
        self,
        *,
        first: FirstTexts,
        certified: FirstTexts,
        earlier: Sequence[Pass],
        earlier_rows: int | None = None,
        carried: Sequence[str] = (),
        counts_ids: bool,
        key_id: str | None,
        ledger: LedgerWriter | None,
        quiet: bool,
        verbose: bool,
    ) -> None:
        from mondegreen.scores.text_loss import TextLosses

        self._first, self._counts_ids, self._key_id = first, counts_ids, key_id
        self._certified = certified
        self._certificate: ContextCertificate | None = None
        self._ledger, self._quiet, self._verbose = ledger, quiet, verbose
        self._given, self._carried = tuple(earlier), tuple(carried)
        self._earlier, self._earlier_rows = list(earlier), earlier_rows
        # Dictionaries, for the order of their keys.
        self._disclosed: dict[str, None] = {}
        self._conditions: dict[str, None] = {}
        self._columns: dict[str, None] = {}
        self._unchanged: dict[str, None] = {}
        self._dropped: dict[str, None] = {}
        self._emptied: dict[str, None] = {}
        self._formats: dict[str, None] = {}
        self._outputs: list[dict[str, str]] = []
        self._before: list[list[Pass]] = []  # of each file
        self._losses, self._file_losses = TextLosses(), TextLosses()
        self._id_column: str | None = None
        self._files = self._rows = self._words = self._rows_without = 0
        self._says_rows_without, self._may_lack = "", False
        self._total: int | None = 0  # bytes of all files; None with a pipe
        self._done = 0  # bytes of the files that have been read
        self._move: Callable[[int], object]

    def survey(self, source: AbstractSource) -> None:
        """Take from an open source what the promise must say of it."""
        from mondegreen.passes import from_json

        if self._total is not None:
            self._total = None if source.total is None else self._total + source.total
        found = from_json(source.earlier)
        self._earlier += found
        self._before.append([*self._given, *found])
        self._id_column = source.id_name
        self._disclosed |= dict.fromkeys(source.disclosed)
        self._conditions |= dict.fromkeys(source.conditions)

    def begin(self, privatizer: Privatizer, *disclosed: str) -> None:
        """Print the promise, before any work; ``disclosed`` belongs to the run."""
        from mondegreen.cli.render import show_promise

        self.privatizer, self._started = privatizer, time.perf_counter()
        self._disclosed |= dict.fromkeys(disclosed)
        self._of_run = disclosed
        self._preview = privatizer.preview()
        show_promise(
            self._promise(tuple(self._disclosed)),
            self._preview,
            quiet=self._quiet,
            verbose=self._verbose,
        )
        if (notice := privatizer.reading.notice) and not self._quiet:
            click.echo(f"{notice} --read none prints the sampled words.", err=True)
        for each in self._earlier:
            if not self._quiet or each.is_void:
                click.echo(f"Privatized before: {each}", err=True)
        self._disclosed = dict.fromkeys(disclosed)  # the ends of the files tell more

    @contextlib.contextmanager
    def progress(self) -> Iterator[None]:
        """Show how much of all files has been read."""
        from mondegreen.cli.render import progress_bar

        with progress_bar(self._total, quiet=self._quiet) as self._move:
            yield

    def release(
        self,
        source: AbstractSource,
        sink: AbstractSink,
        privatize: Callable[..., Any],
        names: Mapping[str, str],
    ) -> None:
        """Write the releases of all texts of a source, and count them."""
        from mondegreen.passes import from_json
        from mondegreen.scores.text_loss import TextLosses

        batches = self._first.take_originals(source, source.batches())
        batches = self._certified.take_originals(source, batches)
        is_keyed = isinstance(self.privatizer.noise, KeyedNoise)
        before = [*self._given, *from_json(source.earlier)]
        done = {each.column for each in before if not each.is_void}
        batches = warn_of_other_columns(source, batches, is_keyed=is_keyed, done=done)
        batches = self._note_unchanged(source, batches)
        batches = warn_of_other_language(source, self.privatizer, batches)
        self._file_losses = TextLosses() if self._of_run else self._losses
        by_id, ledger = source.id_column, self._count_in_ledger(source, names)
        batches = batches if ledger is None else ledger.take(batches)
        released = privatize(self.privatizer, batches, names, id_column=by_id)
        with contextlib.closing(released):
            for batch, counts in released:
                if ledger is not None:
                    ledger.put(counts)
                sink.write(batch)
                self._first.take_release(source, batch)
                self._certified.take_release(source, batch)
                self._words += int(counts.sum())
                self._losses.add(counts, self._read_ids(batch, by_id))
                if self._file_losses is not self._losses:
                    self._file_losses.add(counts)
                self._move(self._done + source.position)

    def _note_unchanged(
        self, source: AbstractSource, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Pass batches on, and keep the names of the columns that pass unchanged."""
        self._dropped |= dict.fromkeys(source.drop)
        for batch in batches:
            self._unchanged |= dict.fromkeys(source.list_unchanged(batch))
            yield batch

    def _count_in_ledger(
        self, source: AbstractSource, names: Mapping[str, str]
    ) -> BatchLedger | None:
        if self._ledger is None or source.id_column is None:
            return None
        from mondegreen.privatizer.ledger import BatchLedger

        return BatchLedger(self._ledger, self.privatizer, names, source.id_column)

    def finish(
        self, source: AbstractSource, names: Mapping[str, str]
    ) -> dict[str, str]:
        """Count a file that has been read to its end; return what it says of passes."""
        from mondegreen.passes import METADATA_KEY, from_json, to_json

        self._files += 1
        self._done += source.total or 0
        self._rows += source.rows_read
        self._rows_without += source.missing_rows
        self._may_lack |= source.may_lack
        self._columns |= dict.fromkeys(names)
        self._emptied |= source.emptied
        self._formats |= dict.fromkeys([source.format])
        self._disclosed |= dict.fromkeys(source.disclosed)
        if source.missing_rows:
            self._says_rows_without = source.disclosed[0]
        promise = self._promise((*source.disclosed, *self._of_run))
        lost = self._file_losses.to_dict(promise.word_loss)
        if self.privatizer.drops_unknown:
            lost = {}  # the number of dropped words is not in the release
        missing = source.missing_rows if source.may_lack else None
        own = self._passes(promise, names, lost, missing, self._lasting_id(source.drop))
        return {METADATA_KEY: to_json([*self._given, *from_json(source.earlier), *own])}

    def note_output(self, name: str, digest: str) -> None:
        """Take the name and the SHA-256 of a file of the release, for the report."""
        self._outputs.append({"name": name, "sha256": digest})

    def report(self) -> bytes:
        """Make the report of the run, as JSON."""
        from mondegreen import __version__
        from mondegreen.passes import build_report
        from mondegreen.protection import worst

        self._certificate = self._certified.certify(self.privatizer)
        promise = self._promise(tuple(self._disclosed))
        lost = self._losses.to_dict(promise.word_loss)
        missing = self._rows_without if self._may_lack else None
        kept = self._lasting_id(self._dropped)
        own = self._passes(promise, self._columns, lost, missing, kept)
        report = build_report([*self._earlier, *own], __version__)
        # Counts of unknown or changed words are not in the report: they are functions
        # of the private words. Those of rows and words pass in clear.
        totals = {"rows": self._rows, "words": self._words}
        if self._of_run:
            totals["files"] = self._files
        if self._may_lack:
            totals["records_without_a_column"] = self._rows_without
        if before := self._missing_before():
            totals["records_without_a_column_earlier"] = before
        if self._key_id is not None:
            report["key_id"] = self._key_id
        report |= {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "outputs": self._outputs,
            "protection": worst((report["protection"], self._preview.level)),
            "preview": self._preview.to_dict(),
            "loss": {
                **lost,
                "all_passes": self._add_losses(promise, lost),
                "note": promise.text_loss_note
                + (_EARLIER if self._earlier else _NO_EARLIER),
            },
            "input": {
                "format": ", ".join(self._formats),
                "columns": list(self._columns),
                "unchanged": list(self._unchanged),
                "dropped": list(self._dropped),
            },
            "counts": totals,
        }
        if self._emptied:
            report["input"]["formulas_left_out"] = list(self._emptied)
        if self._certificate is not None:
            from mondegreen.cli.explain_file import PRIVATE

            about = {"note": PRIVATE, "first_texts": self._certificate.texts}
            report["context"] = {**self._certificate.to_dict(), **about}
        return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()

    def _passes(
        self,
        promise: Guarantee,
        columns: Iterable[str],
        lost: Mapping[str, Any],
        missing: int | None,
        id_column: str | None,
    ) -> list[Pass]:
        """State the passes of this run, with its loss."""
        from mondegreen.passes import Pass

        names = tuple(columns)
        loss = _find_largest(names, lost, id_column)
        first = [missing] + [None] * len(names)  # the count of a run is stated once
        return [
            Pass(name, promise, loss, count)
            for name, count in zip(names, first, strict=False)
        ]

    def _lasting_id(self, dropped: Container[str]) -> str | None:
        """The column of ids, if a later run can count by it, too."""
        return None if self._id_column in dropped else self._id_column

    def _add_losses(
        self, promise: Guarantee, lost: Mapping[str, Any]
    ) -> dict[str, float | None]:
        """Bound the losses of all runs; None where that is not known."""
        from mondegreen.passes import add_losses

        own = self._passes(promise, self._columns, lost, None, self._id_column)
        totals = [add_losses([*before, *own]) for before in self._before]
        if not self._earlier:
            totals = [add_losses(own)]
        known = [total for total in totals if total is not None]
        if not known or len(known) < len(totals):
            return {"per_row": None, "per_id": None}
        by_id = known[0].per_id if len(known) == 1 else None  # ids may be in two files
        return {
            "per_row": round_up(max(total.per_row for total in known), _DIGITS),
            "per_id": None if by_id is None else round_up(by_id, _DIGITS),
        }

    def _missing_before(self) -> int:
        """Count the records that earlier runs copied."""
        return sum(each.missing_rows or 0 for each in self._earlier)

    def say_done(self, output: str) -> None:
        """Show the first texts, and say how much was released and how fast."""
        self._first.show(self.privatizer, output)
        if self._certificate is not None and not self._quiet:
            from mondegreen.cli.explain_file import say_exposed

            click.echo(say_exposed(self._certificate), err=True)
        if not self._quiet:
            seconds = time.perf_counter() - self._started
            speed = amount(round(self._words / max(seconds, 1e-9)), "word")
            done = [amount(self._rows, "row"), amount(self._words, "word")]
            if self._of_run:
                done.insert(0, amount(self._files, "file"))
            click.echo(
                f"{', '.join(done)} in {seconds:.1f} s ({speed} a second)", err=True
            )
            self._say_loss()
            self._say_unchanged()
        if self._says_rows_without:
            click.echo(f"Warning: {self._says_rows_without}", err=True)
        if before := self._missing_before():
            click.echo(
                f"Warning: earlier passes copied {amount(before, 'record')} without a "
                "column unchanged",
                err=True,
            )
        self._warn_of_others()

    def _say_loss(self) -> None:
        """State the loss of all runs, where there were earlier ones."""
        if not self._earlier:
            return
        promise = self._promise(tuple(self._disclosed))
        lost = self._losses.to_dict(promise.word_loss)
        row = self._add_losses(promise, lost)["per_row"]
        own = (lost["per_row"] or {"largest": 0.0})["largest"]
        total = _NOT_KNOWN if row is None else f"at most {row:,.6g} nats per row"
        click.echo(
            f"Loss of all passes: {total}. This pass alone: at most {own:,.6g}.",
            err=True,
        )

    def _say_unchanged(self) -> None:
        """Name the columns that pass unchanged, in one line."""
        names = list(self._unchanged)
        more = len(names) - _MOST_NAMES
        if names:
            rest = f", and {more:,} more" if more > 0 else ""
            listed = ", ".join(names[:_MOST_NAMES])
            click.echo(f"Unchanged columns: {listed}{rest}", err=True)
        if self._emptied:
            listed = ", ".join(list(self._emptied)[:_MOST_NAMES])
            click.echo(
                f"Formulas left out, other cells unchanged, in columns: {listed}",
                err=True,
            )

    def _warn_of_others(self) -> None:
        """Warn of an earlier report of another file, and of second draws."""
        if self._earlier_rows not in (None, self._rows):
            click.echo(
                f"Warning: the report of --earlier is about "
                f"{amount(self._earlier_rows or 0, 'row')}, and INPUT has "
                f"{self._rows:,}. If it is the report of another file, the guarantees "
                "that are stated as earlier ones do not hold for INPUT.",
                err=True,
            )
        if self._ledger is not None and self._ledger.drawn_again:
            again = amount(self._ledger.drawn_again, "text")
            click.echo(
                f"Warning: the ledger has earlier draws of {again} of this release: "
                "losses add up. If the earlier release had another policy or other "
                "lists, its groups differ, so two words of one group may lose epsilon. "
                "See: mondegreen budget.",
                err=True,
            )
        if self._ledger is not None and self._ledger.drawn_elsewhere:
            count = amount(self._ledger.drawn_elsewhere, "text")
            click.echo(
                f"Warning: the ledger has draws of other columns of the same ids as "
                f"{count} of this release, and none of this column. If the column was "
                "renamed, the texts are drawn anew and losses add up: name it as "
                "before with --as.",
                err=True,
            )

    def _promise(self, disclosed: tuple[str, ...]) -> Guarantee:
        told = (*disclosed, *self._carried)
        return self.privatizer.guarantee.with_text(told, tuple(self._conditions))

    def _read_ids(
        self, batch: pa.RecordBatch, id_column: str | None
    ) -> list[str] | None:
        from mondegreen.text.columns import read_ids

        if id_column is None or not self._counts_ids:
            return None
        return read_ids(batch.column(id_column))


def _find_largest(
    columns: tuple[str, ...], lost: Mapping[str, Any], id_column: str | None
) -> RunLoss | None:
    """Take the largest losses from what a report states; None where it has none."""
    from mondegreen.passes import RunLoss

    if not columns or not math.isfinite(lost.get("per_word", math.inf)):
        return None
    row, by_id = lost["per_row"], lost["per_id"]
    has_ids = id_column is not None and by_id is not None
    return RunLoss(
        columns,
        0.0 if row is None else row["largest"],
        by_id["largest"] if has_ids else None,
        id_column if has_ids else None,
    )
