"""Show the main job in a scratch home: remember in three tongues, edit by hand, recall, read the history."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("cofferctl")
FACTS = (
    ("This repo deploys via `make release`; never run git push --tags by hand.",),
    ("Commit with --no-verify only for docs; src/hooks/pre_commit.py explains why.",),
    ("合约转换验证问题记录在第三页，负责人是李雷。", "--title", "合约转换"),
    ("Answer in short sentences.", "--scope", "global"),
)


def say(text: str) -> None:
    """A line of the narrator."""
    print(f"\n# {text}", flush=True)


class Demo:
    """A scratch home with one project."""

    def __init__(self, root: Path) -> None:
        self.project = root / "shop"
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "TERM", "COLUMNS", "LANG") if name in os.environ},
            "HOME": str(root),
            "COFFER_HOME": str(root / "coffer"),
            "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
        }
        self.project.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, cwd: Path | None = None) -> None:
        """Plain git, as the user has it."""
        name = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
        subprocess.run(["git", *name, *arguments], cwd=cwd or self.project, env=self.env, check=True)

    def show(self, *arguments: str) -> None:
        """Run one command before the reader's eyes."""
        print(f"\n$ cofferctl {shlex.join(arguments)}", flush=True)
        subprocess.run([PROGRAM, *arguments], cwd=self.project, env=self.env, check=True)

    def store(self) -> Path:
        """Where the project's facts are."""
        return next((Path(self.env["COFFER_HOME"]) / "memory/projects").iterdir())


def main() -> None:
    """The whole show, in a directory that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="coffer-demo-") as scratch:
        demo = Demo(Path(scratch).resolve())
        say("What the agents learn is stored, one commit a fact.")
        for fact in FACTS:
            demo.show("remember", *fact)
        say("Any question, any language, any identifier.")
        demo.show("recall", "how do we deploy?")
        demo.show("recall", "转换验证")
        demo.show("recall", "--", "--no-verify")
        say("Facts are files. Somebody edits one in an editor …")
        path = next((demo.store() / "knowledge/inbox").glob("this-repo-*.md"))
        print(f"\n$ sed -i 's/make release/make ship/' {path.relative_to(demo.store())}", flush=True)
        path.write_text(path.read_text().replace("make release", "make ship"))
        say("… and the very next recall knows.")
        demo.show("recall", "how do we deploy?")
        say("The next write commits that edit too; the history is git's own.")
        demo.show("remember", "The staging database is PostgreSQL 16.")
        demo.show("log")
        demo.show("where")
        print("\n$ git -C STORE log --oneline -3", flush=True)
        demo.git("--no-pager", "log", "--oneline", "-3", cwd=demo.store())
        say("That was a scratch home; yours is untouched.")


if __name__ == "__main__":
    main()
