"""A small store in memory: files as text, blob ids, and an index over them."""

from dataclasses import dataclass, field
from pathlib import Path

from coffer_index import Document, Index


@dataclass
class Shelf:
    """Files of a pretend store, and the index that is kept of them."""

    directory: Path | None
    files: dict[str, list[Document]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    index: Index | None = None

    def put(self, path, body, **more):
        self.files[path] = [document(path, body, **more)]

    def load(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    @property
    def map(self):
        return {path: f"{hash(tuple(documents)):x}" for path, documents in self.files.items()}

    @property
    def fingerprint(self):
        return repr(sorted(self.map.items()))

    def open(self):
        self.index = Index.open(self.directory, notice=self.notices.append)
        return self.index

    def sync(self, **more):
        if self.index is None:
            self.open()
        return self.index.reconcile(self.map, self.fingerprint, self.load, **more)

    def search(self, query, limit=10, **more):
        return self.index.search(query, limit=limit, **more)

    def find(self, query, limit=10, **more):
        return [hit.id for hit in self.search(query, limit, **more)]


def document(path, body, **more):
    given = {
        "id": path.rpartition("/")[2].removesuffix(".md"),
        "title": "",
        "description": "",
        "lane": path.partition("/")[0],
        "offset": 0,
        "time": 0.0,
        "day": "",
        "passages": 1,
        "extra": "",
    }
    return Document(path=path, body=body, **(given | more))
