"""`make bench`: every bar that can be measured at this stage, as ratios of one run on one machine.

    python tests/bench/run.py [--quick] [--only PART ...]

--quick leaves out stores of 20,000 and 100,000 facts and most kills. Parts: cold, writes, warm, quality, robust, big.
"""

import argparse
import platform
import subprocess
import time
from pathlib import Path

import cold
import quality
import robust
import warm
from world import PROGRAM, Report, World, spawn

SHARED = Path(__file__).resolve().parents[3] / "shared/data"
PARTS = ("cold", "writes", "warm", "quality", "robust", "big")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    parts = [part for part in options.only if part != "big" or not options.quick]
    began = time.monotonic()
    world, report = World(), Report()
    try:
        small(report, world, parts)
        if "quality" in parts:
            recall_quality(report)
        if "robust" in parts:
            robust.writers(report, world.project("writers"), each=10 if options.quick else 50)
            robust.kills(report, world, times=9 if options.quick else 90)
        if "big" in parts:
            big(report, world)
    finally:
        world.close()
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"\nPython {platform.python_version()}, {git}, {time.monotonic() - began:.0f} s\n")
    report.table()


def small(report, world, parts):
    """Stores of 200, 2,000 and 5,000 facts."""
    sizes = {200: {"cold", "writes"}, 2_000: {"writes"}, 5_000: {"cold", "warm"}}
    projects = {count: world.fill(f"p{count}", count)[0] for count, used in sizes.items() if used & set(parts)}
    if "cold" in parts:
        cold.measure(report, projects[200], projects[5_000])
        cold.after_write(report, projects[5_000])
    if "writes" in parts:
        for count in (200, 2_000):
            warm.writes(report, world, projects[count], count)
    if "warm" in parts:
        warm.indexing(report, projects[5_000], 5_000)
        warm.recalls(report, projects[5_000], 5_000)


def big(report, world):
    """Stores of 20,000 and 100,000 facts."""
    for count in (20_000, 100_000):
        project, cost = world.fill(f"p{count}", count)
        rate = count / cost.cpu
        report.add(f"import of {count:,} facts", f"{rate:,.0f} facts / CPU s", f"{cost.wall:.1f} s wall")
        warm.writes(report, world, project, count)
        warm.indexing(report, project, count)
        if count == 100_000:
            warm.recalls(report, project, count, times=15)
            spawn([PROGRAM, "recall", "settle", "-C", str(project)])
            warm.memory(report, project, count)


BARS = (
    ("locomo-turn", "all", 5, 0.57),
    ("locomo-session", "all", 5, 0.86),
    ("cmrc", "all", 1, 0.95),
    ("cmrc", "all", 5, 0.99),
    ("devfacts", "en-lexical", 5, 1.0),
    ("devfacts", "identifier", 5, 1.0),
    ("devfacts", "zh", 5, 0.95),
    ("devfacts", "ja-ko", 5, 1.0),
)


def recall_quality(report):
    """R@k by keyword, of the repository's corpus always and of the shared ones when they are there."""
    root = SHARED if SHARED.is_dir() else quality.OWN
    if root is quality.OWN:
        report.add("recall quality, locomo and cmrc", "not measured", f"no {SHARED}")
    folders = sorted(path.parent for path in root.glob("*/queries.jsonl"))
    measured = {folder.name: quality.measure(folder) for folder in folders}
    for family, category, k, bar in BARS:
        found = [
            quality.mean(scores[category])[quality.KS.index(k)]
            for name, scores in measured.items()
            if name.rstrip("-0123456789") == family and category in scores
        ]
        if found:
            value = sum(found) / len(found)
            what = f"quality {family}{'' if category == 'all' else ' ' + category} R@{k}"
            sets = f"mean of {len(found)} sets" if len(found) > 1 else ""
            report.add(what, f"{value:.3f}", sets, f"{value / bar:.2f}x", f">= {bar:g}", round(value, 3) >= bar)


if __name__ == "__main__":
    main()
