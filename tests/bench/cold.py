"""Rows of whole processes: what a start costs, as CPU time against an interpreter that does nothing."""

import itertools

from world import PROGRAM, PYTHON, ROUNDS, median, name_of, spawn

_FRESH = itertools.count()


def measure(report, small, large):
    """`--help`, `recall` and `remember`, interleaved with `python -c pass`.

    Args:
        report: takes the rows.
        small: a project with 200 facts.
        large: one with 5,000; `remember` writes to neither, but to `small`'s copy's place at the end of each round.
    """
    query = name_of(7)
    runs = {
        "pass": lambda: spawn([PYTHON, "-c", "pass"]),
        "help": lambda: spawn([PROGRAM, "--help"]),
        "recall 200": lambda: spawn([PROGRAM, "recall", query, "--json", "-C", str(small)]),
        "recall 5000": lambda: spawn([PROGRAM, "recall", query, "--json", "-C", str(large)]),
        "remember": lambda: spawn([PROGRAM, "remember", f"cold fact {next(_FRESH)}", "--json", "-C", str(small)]),
        "settle": lambda: spawn([PROGRAM, "recall", query, "-C", str(small)]),  # so that the next index is current
    }
    costs = {name: [] for name in runs}
    for number in range(ROUNDS + 1):
        for name, run in runs.items():
            cost = run()
            assert cost.code == 0, f"{name} failed"
            if number:  # the first round warms the disk
                costs[name].append(cost)
    base = median(costs["pass"], "cpu")
    report.ratio("cold --help", median(costs["help"], "cpu"), base, 9)
    report.ratio("cold recall --json, 200 facts", median(costs["recall 200"], "cpu"), base, 10)
    wall = median(costs["recall 200"])
    report.add("  the same, wall", f"{wall * 1e3:.0f} ms", "SC-003", "", "<= 300 ms", wall <= 0.3)
    report.ratio("cold recall --json, 5,000 facts", median(costs["recall 5000"], "cpu"), base, 12)
    report.ratio("cold remember, 200 facts", median(costs["remember"], "cpu"), base, 15)


def after_write(report, project):
    """The first recall after one write, in a fresh process."""
    walls = []
    for _ in range(ROUNDS):
        spawn([PROGRAM, "remember", f"just written {next(_FRESH)}", "-C", str(project)])
        walls.append(spawn([PROGRAM, "recall", name_of(7), "--json", "-C", str(project)]))
    wall = median(walls)
    cpu = median(walls, "cpu")
    report.add(
        "first recall after one write, 5,000",
        f"{wall * 1e3:.0f} ms wall",
        f"{cpu * 1e3:.0f} ms CPU",
        "",
        "<= 250 ms",
        wall <= 0.25,
    )
