"""Recall quality by keyword on labelled corpora: `python tests/bench/quality.py [DATA_DIR]`.

Each corpus is a folder of docs.jsonl {ref, text, created_at?} and queries.jsonl {query, gold: [ref ...], category}.
It is imported as one inbox fact per document. Printed per corpus and category: R@1, R@5, R@10, where
R@k = mean over queries of |gold in the first k| / |gold|. Without DATA_DIR only the repository's corpus is measured.
"""

import json
import re
import sys
import time
from pathlib import Path

from coffer_index import Document, Index

OWN = Path(__file__).parents[1] / "data"
KS = (1, 5, 10)


def title_of(text):
    """The first sentence, cut at 80 characters: what an imported fact is called."""
    return re.split(r"(?<=[.!?])\s|\n|(?<=[。！？])", text.strip(), maxsplit=1)[0][:80]


def document(row):
    """An inbox fact of a corpus row."""
    return Document(
        path=f"inbox/{row['ref']}.md",
        id=row["ref"],
        title=title_of(row["text"]),
        description="",
        lane="inbox",
        body=row["text"],
        offset=0,
        time=0.0,
        day=row.get("created_at", "")[:10],
        passages=1,
        extra="",
    )


def read(path):
    """Rows of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def build(rows):
    """A fresh index in memory of corpus rows."""
    documents = {found.path: found for found in map(document, rows)}
    index = Index.open(None, notice=print)
    index.reconcile(dict.fromkeys(documents, "0"), "all", lambda path: [documents[path]])
    return index


def recall(gold, found, k):
    """|gold in the first k of found| / |gold|."""
    return len(set(gold) & set(found[:k])) / len(set(gold))


def measure(folder):
    """{category: [(R@1, R@5, R@10) of each query]} of one corpus, 'all' included."""
    index = build(read(folder / "docs.jsonl"))
    scores = {}
    for row in read(folder / "queries.jsonl"):
        found = [hit.id for hit in index.search(row["query"], limit=max(KS))]
        score = tuple(recall(row["gold"], found, k) for k in KS)
        for category in (row["category"], "all"):
            scores.setdefault(category, []).append(score)
    return scores


def mean(scores):
    """Column means of rows of numbers."""
    return [sum(column) / len(scores) for column in zip(*scores, strict=True)]


def main(argv):
    """Measure every corpus found and print one line per category."""
    root = Path(argv[1]) if len(argv) > 1 else OWN
    families = {}
    print(f"{'corpus':<20} {'category':<16} {'n':>4}   " + "    ".join(f"R@{k}" for k in KS))
    for folder in sorted(path.parent for path in root.glob("*/queries.jsonl")):
        began = time.process_time()
        for category, scores in sorted(measure(folder).items()):
            figures = "  ".join(f"{value:.3f}" for value in mean(scores))
            print(f"{folder.name:<20} {category:<16} {len(scores):>4}  {figures}")
            if category == "all":
                families.setdefault(re.sub(r"-\d+$", "", folder.name), []).append(mean(scores))
        print(f"{folder.name:<20} {'(CPU seconds)':<16} {time.process_time() - began:>4.1f}")
    for family, rows in families.items():
        if len(rows) > 1:
            print(f"{family:<20} {'mean':<16} {len(rows):>4}  " + "  ".join(f"{value:.3f}" for value in mean(rows)))


if __name__ == "__main__":
    main(sys.argv)
