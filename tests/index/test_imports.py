"""What a cold search may load."""

import subprocess
import sys

CODE = """
import sys
import coffer_index
index = coffer_index.Index.open(None, notice=print)
index.search("pump", limit=1)
heavy = {"typing", "pathlib", "logging", "subprocess", "tempfile", "json", "shutil", "hashlib", "regex", "cofferctl"}
print(sorted(heavy & set(sys.modules)))
"""


def test_a_cold_search_loads_only_tantivy_and_little_else():
    # -S: site may load anything by itself, e.g. for editable installs.
    paths = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n"
    done = subprocess.run([sys.executable, "-S", "-c", paths + CODE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
