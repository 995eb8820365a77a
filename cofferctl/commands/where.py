"""where: which stores are used from here, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cofferctl import store

if TYPE_CHECKING:
    from cofferctl.coffer import Coffer

_WHY = {
    "known": "this repository is bound to it",
    "moved": "this repository was moved here",
    "restored": "this repository was put back here",
    "clone": "this is a clone of a repository bound to it",
    "linked": "it was linked by hand",
    "new": "the first remember makes it",
    "none": "there is no git repository here",
}


@dataclass(frozen=True, slots=True)
class Used:
    """One scope; `store` and `store_dir` are None as long as the project has no store."""

    scope: str
    store: str | None
    store_dir: str | None
    exists: bool
    why: str


@dataclass(frozen=True, slots=True)
class Place:
    """The answer."""

    cwd: str
    project_root: str | None
    branch: str | None
    scopes: tuple[Used, ...]
    notices: tuple[str, ...]


def where(coffer: Coffer) -> Place:
    """Say which stores commands use from the working directory."""
    place = coffer.place
    scopes = []
    if place.project_root is not None:
        project = coffer.project_store()
        scopes.append(
            Used(
                "project",
                project.name if project else None,
                str(project.directory) if project else None,
                exists=bool(project and project.exists),
                why=_WHY.get(place.why, place.why),
            )
        )
    everywhere = coffer.global_store()
    scopes.append(
        Used(store.GLOBAL, everywhere.name, str(everywhere.directory), everywhere.exists, "it is used everywhere")
    )
    return Place(
        cwd=str(place.cwd),
        project_root=str(place.project_root) if place.project_root else None,
        branch=place.branch,
        scopes=tuple(scopes),
        notices=tuple(coffer.notices),
    )
