"""What convicts a mechanism or the evidence, and no level by itself."""

from isoscope.anomalies.entry import COMPONENTS, PAIR_KEY, READS, CatalogueEntry, aion

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="inconsistent-read",
        title="Inconsistent read",
        meaning="A read returned a version that could not be visible at any moment of the "
        "snapshot; it convicts the mechanism of consistent reads, not a level.",
        aliases=("CR",),
        breaks=(),
        counted=READS,
        source="Li et al. 2023 (consistent read)",
    ),
    CatalogueEntry(
        name="lock-violation",
        title="Lock violation",
        meaning="Two transactions held conflicting locks at the same time, however their intervals "
        "are read; it convicts the mechanism of mutual exclusion, not a level.",
        aliases=("ME",),
        breaks=(),
        counted=PAIR_KEY,
        source="Li et al. 2023 (mutual exclusion)",
    ),
    CatalogueEntry(
        name="first-updater-violation",
        title="First-updater violation",
        meaning="Two transactions that certainly overlapped updated the same key and both "
        "committed; it convicts the mechanism of first updater wins, not a level.",
        aliases=("FUW",),
        breaks=(),
        counted=PAIR_KEY,
        source="Li et al. 2023 (first updater wins)",
    ),
    CatalogueEntry(
        name="certifier-violation",
        title="Certifier violation",
        meaning="Transactions committed with dependencies that the database's certifier should "
        "have refused; it convicts the certifier, not a level.",
        aliases=("SC",),
        breaks=(),
        counted=COMPONENTS,
        source="Li et al. 2023 (serialization certifier)",
    ),
    CatalogueEntry(
        name="contradictory-dependencies",
        title="Contradictory dependencies",
        meaning="Two mechanisms, each taken to work, order the same two transactions differently; "
        "one of them failed, and no level is convicted by that alone.",
        aliases=(),
        breaks=(),
        counted=PAIR_KEY,
        source="Li et al. 2023",
    ),
    CatalogueEntry(
        name="contradictory-evidence",
        title="Contradictory evidence",
        meaning="Two sources of the version order, such as list reads and timestamps, order the "
        "same two versions differently; a level is decided only if each source alone decides it.",
        aliases=(),
        breaks=(),
        counted=PAIR_KEY,
        source="Isoscope",
        example=aion(
            "session=1 start=1 commit=2 a(1,1)",
            "session=2 start=3 commit=4 a(1,2)",
            "session=3 start=5 commit=6 r(1,[2,1])",
            note="By the clock 1 was appended first; by the list it was 2.",
        ),
    ),
)
