"""Bring the keyword index to the state of a file map: idempotent, one commit at the end, rebuild when in doubt."""

from __future__ import annotations

import os
import time

from coffer_index import keyword, lock
from coffer_index.generations import Generations, seal
from coffer_index.keyword import DAMAGE, Busy, Entry, Keyword, is_panic
from coffer_index.model import Hit, IndexDamaged, Loader, Reconciled

TYPE_CHECKING = False  # spares every cold process the import of `typing` and `pathlib`
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path
    from typing import Literal

DAMAGED = "the search index was damaged and has been rebuilt"
_POLL = 0.02
_TICK = 64  # files between two calls of `progress`


class Index:
    """One store's keyword index: a pure function of a file map {path -> blob id}, kept beside it and disposable.

    Not for use by several threads at once; any number of processes (and `Index` objects) may share a directory.
    """

    def __init__(self, generations: Generations | None, notice: Callable[[str], None]) -> None:
        self._generations = generations
        self._notice = notice
        self._keyword: Keyword | None = None
        self._name = ""  # of the generation `_keyword` reads
        self._damaged = False  # what `_latest` saw last
        self._discarded = False
        self._mask: Mapping[str, str] | None = None

    @classmethod
    def open(cls, directory: Path | None, *, notice: Callable[[str], None]) -> Index:
        """The index kept in `directory`, which is made (0700) if missing; nothing is read yet.

        None, or a directory that cannot be written to, gives an index in memory: tantivy locks even to read.
        `notice` is called once with a sentence for the user when a damaged index had to be rebuilt.
        """
        return cls(Generations.open(os.fspath(directory)) if directory is not None else None, notice)

    @property
    def in_memory(self) -> bool:
        """Whether the index lives in this process only."""
        return self._generations is None

    def status(self, fingerprint: str) -> Literal["current", "behind", "missing"]:
        """Whether the index stands for the file map with this fingerprint; a damaged index is a missing one."""
        found = self._latest()
        if found is None:
            return "missing"
        return "current" if found.stands_for(fingerprint) else "behind"

    def search(
        self,
        query: str,
        *,
        limit: int,
        files: Mapping[str, str] | None = None,
        lanes: Collection[str] | None = None,
        since: float | None = None,
    ) -> list[Hit]:
        """The passages that answer `query`, best first; empty when nothing matches.

        Args:
            query: any text whatever; it has no syntax.
            limit: the most hits to return, at least 1: hits, not passages looked at.
            files: when given, only hits whose (path, blob id) it holds; a stale index must not show what is gone.
            lanes: only documents of these lanes.
            since: only documents with `time` at or after it (POSIX seconds).

        Raises:
            ValueError: `limit` is below 1.
            IndexDamaged: the index broke while it was read, see `discard`.
        """
        if limit < 1:
            raise ValueError("limit must be at least 1")
        if self._keyword is None and self._latest() is None:
            return []
        assert self._keyword is not None  # noqa: S101 - what `_latest` found
        live = self._mask if files is None else files
        try:
            return self._keyword.search(query, limit=limit, files=live, lanes=lanes, since=since)
        except DAMAGE as error:
            raise IndexDamaged(str(error)) from error
        except BaseException as error:
            if is_panic(error):
                raise IndexDamaged(str(error)) from error
            raise

    def audit(self, files: Mapping[str, str], load: Loader) -> list[str] | None:
        """Paths whose passages in the index are not those a rebuild would put there, in order; None if it is broken.

        Nothing is changed. Times are not compared: those of files that do not say theirs come from elsewhere.
        """
        stored: dict[str, list[Hit]] = {}
        try:
            found = self._latest()
            if found is None:
                return None
            for hit in found.stored():
                stored.setdefault(hit.path, []).append(hit)
        except DAMAGE:
            return None
        except BaseException as error:
            if is_panic(error):
                return None
            raise
        wrong = stored.keys() - files.keys()
        for path, blob in files.items():
            try:
                wanted = [hit for document in load(path) for hit in keyword.expected(document, blob)]
            except Exception:  # noqa: BLE001, S112 - what cannot be read is in no index
                continue
            if sorted(map(_identity, wanted)) != sorted(map(_identity, stored.get(path, ()))):
                wrong.add(path)
        return sorted(wrong)

    def discard(self) -> None:
        """Drop the generation in use, so that the next `reconcile` rebuilds (and gives notice)."""
        self._keyword = None
        self._discarded = True
        if self._generations is not None and self._name:
            self._generations.drop(self._name)

    def reconcile(
        self,
        files: Mapping[str, str],
        fingerprint: str,
        load: Loader,
        *,
        wait: float = 2.0,
        full: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Reconciled:
        """Make the index stand for `files`; instant when it does already.

        Args:
            files: path -> blob id of every file to be found; a changed file has another blob id.
            fingerprint: any string that is equal for equal maps only.
            load: reads one file; called for changed files only.
            wait: how long to wait for another writer, in seconds.
            full: rebuild from nothing, whatever is there.
            progress: called with (files read, files to read) now and then.
        """
        self._mask = None
        job = _Job(files, fingerprint, load, progress)
        if self._generations is None:
            return self._reconcile(job, full=full)
        found = self._latest()
        if found is not None and not full and found.stands_for(fingerprint):
            return Reconciled("current", 0)
        return self._reconcile_locked(job, full=full, wait=wait)

    def _reconcile_locked(self, job: _Job, *, full: bool, wait: float) -> Reconciled:
        assert self._generations is not None  # noqa: S101 - the caller looked
        deadline = time.monotonic() + wait
        try:
            held = lock.acquire(self._generations.lock, wait)
            if held is None:
                return self._stale(job)
            try:
                return self._reconcile_until(job, full=full, deadline=deadline)
            finally:
                lock.release(held)
        except OSError:
            # The directory went away or became read-only, or the disk is full: the answer matters, not the index.
            self._generations = None
            self._keyword, self._name, self._damaged = None, "", False
            return self._reconcile(job, full=True)

    def _reconcile_until(self, job: _Job, *, full: bool, deadline: float) -> Reconciled:
        while True:
            try:
                return self._reconcile(job, full=full)
            except Busy:  # somebody holds tantivy's own lock, which we never do without holding ours
                if time.monotonic() >= deadline:
                    return self._stale(job)
                time.sleep(_POLL)

    def _stale(self, job: _Job) -> Reconciled:
        self._latest()
        self._mask = job.files
        return Reconciled("stale", 0)

    def _reconcile(self, job: _Job, *, full: bool) -> Reconciled:
        """The work itself, under the lock (or in memory): what was found before may be out of date by now."""
        found = self._latest()
        if found is not None and not full:
            if found.stands_for(job.fingerprint):
                return Reconciled("current", 0)
            try:
                if self._update(found, job):
                    return Reconciled("updated", job.documents, tuple(job.skipped))
            except DAMAGE:
                self._damaged = True
            except BaseException as error:
                if not is_panic(error):
                    raise
                self._damaged = True
        self._rebuild(job)
        return Reconciled("rebuilt", job.documents, tuple(job.skipped))

    def _update(self, found: Keyword, job: _Job) -> bool:
        """Change what differs, in place; False if that is so much that a rebuild is better."""
        old = found.manifest()
        changed = [path for path, blob in job.files.items() if old.get(path) != blob]
        gone = [path for path in old if path not in job.files]
        if 2 * (len(changed) + len(gone)) > max(len(old), len(job.files)):
            return False
        if self._generations is not None and self._generations.wasteful(self._name):
            return False
        gone += [path for path in changed if path in old]
        kept = {path: blob for path, blob in old.items() if job.files.get(path) == blob}
        found.write(gone, job.batches(changed, kept), kept, job.fingerprint)
        if self._generations is not None:
            seal(self._generations.path(self._name))
        return True

    def _rebuild(self, job: _Job) -> None:
        """Build beside, put in place, and only then speak of damage."""
        if self._generations is None:
            manifest: dict[str, str] = {}
            self._keyword = Keyword.create(None)
            self._keyword.write((), job.batches(job.files, manifest), manifest, job.fingerprint)
        else:
            self._publish(self._generations, job)
        if self._damaged or self._discarded:
            self._damaged = self._discarded = False
            self._notice(DAMAGED)

    def _publish(self, generations: Generations, job: _Job) -> None:
        manifest: dict[str, str] = {}
        broken = generations.latest() if self._damaged else ""
        fresh = generations.begin()
        try:
            Keyword.create(fresh).write((), job.batches(job.files, manifest), manifest, job.fingerprint)
            self._name = generations.publish(fresh)
            self._keyword = Keyword.open(generations.path(self._name))
        except DAMAGE as error:
            generations.abandon(fresh)
            raise OSError(f"the search index cannot be written: {error}") from error
        except BaseException:
            generations.abandon(fresh)
            raise
        if broken:
            generations.drop(broken)

    def _latest(self) -> Keyword | None:
        """The newest generation, freshly loaded; None if there is none or it is damaged."""
        if self._generations is None:
            return self._keyword
        name = self._generations.latest()
        self._damaged = False
        try:
            if self._keyword is not None and name == self._name:
                self._keyword.reload()
            else:
                self._keyword = Keyword.open(self._generations.path(name)) if name else None
        except DAMAGE:
            self._keyword, self._damaged = None, True
        except BaseException as error:
            if not is_panic(error):
                raise
            self._keyword, self._damaged = None, True
        self._name = name
        return self._keyword


def _identity(hit: Hit) -> tuple[object, ...]:
    return (hit.start, hit.end, hit.blob, hit.id, hit.title, hit.lane, hit.heading, hit.digest, hit.extra)


class _Job:
    """One call's wish (the file map) and its account (documents read, files skipped)."""

    def __init__(
        self,
        files: Mapping[str, str],
        fingerprint: str,
        load: Loader,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.files = files
        self.fingerprint = fingerprint
        self._load = load
        self._progress = progress
        self.documents = 0
        self.skipped: list[str] = []

    def batches(self, paths: Collection[str], manifest: dict[str, str]) -> Iterator[list[Entry]]:
        """The entries of each file, file by file; those that could be read are added to `manifest`.

        A file that is gone or broken stays out of the manifest: the next reconcile that has work to do tries it again.
        """
        self.documents = 0
        self.skipped = []
        for number, path in enumerate(paths):
            if self._progress is not None and number % _TICK == 0:
                self._progress(number, len(paths))
            blob = self.files[path]
            try:
                documents = self._load(path)
                batch = [entry for document in documents for entry in keyword.entries(document, blob)]
            except OSError:
                continue
            except Exception:  # noqa: BLE001 - one bad file must not take the others out of the index
                self.skipped.append(path)
                continue
            manifest[path] = blob
            self.documents += len(documents)
            yield batch
        if self._progress is not None:
            self._progress(len(paths), len(paths))
