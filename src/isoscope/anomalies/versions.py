"""Impossible versions of a key, and impossible orders of versions."""

from isoscope.anomalies.entry import READS, CatalogueEntry, jepsen, plume
from isoscope.levels import Level

__all__ = ["ENTRIES"]

ENTRIES = (
    CatalogueEntry(
        name="dirty-update",
        title="Dirty update",
        meaning="A committed transaction's update builds on a version whose writer aborted.",
        aliases=(),
        breaks=(Level.PL_2,),
        counted="(writer, key) pairs",
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "fail 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1 2]]",
            note="The aborted 1 stays in the list below 2; the read of it is an aborted-read too.",
        ),
        allowed=jepsen(
            "fail 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [2]]",
            note="The aborted 1 is not in the list.",
        ),
    ),
    CatalogueEntry(
        name="incompatible-order",
        title="Incompatible order",
        meaning="Two reads of a list disagree on the order of its elements, so at least one shows "
        "a state that was never committed.",
        aliases=(),
        breaks=(Level.PL_2,),
        counted=READS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1]]",
            "ok 3 [:r :x [2]]",
            note="x cannot have begun with 1 and with 2.",
        ),
        allowed=jepsen(
            "ok 0 [:append :x 1]",
            "ok 1 [:append :x 2]",
            "ok 2 [:r :x [1]]",
            "ok 3 [:r :x [1 2]]",
            note="x was [1] and then [1 2].",
        ),
    ),
    CatalogueEntry(
        name="duplicate-elements",
        title="Duplicate elements",
        meaning="A read of a list shows an element twice that was appended once.",
        aliases=(),
        breaks=(Level.PL_1,),
        counted=READS,
        source="Kingsbury and Alvaro 2020",
        example=jepsen("ok 0 [:append :x 1]", "ok 1 [:r :x [1 1]]", note="1 was appended once."),
        allowed=jepsen("ok 0 [:append :x 1]", "ok 1 [:r :x [1]]", note="1 is shown once."),
    ),
    CatalogueEntry(
        name="cyclic-versions",
        title="Cyclic versions",
        meaning="The known order of a key's versions puts one of them before itself.",
        aliases=(),
        breaks=(Level.PL_1,),
        counted="keys",
        source="Kingsbury and Alvaro 2020",
        example=plume(
            "w(1,1,1,1) w(1,2,1,2) r(1,2,2,3) r(1,1,2,4)",
            "With `--assume sequential-keys`: session 1 has 1 before 2, session 2 has 2 before 1.",
        ),
        allowed=plume(
            "w(1,1,1,1) w(1,2,1,2) r(1,2,2,3) r(1,2,2,4)",
            "With `--assume sequential-keys`: session 1 has 1 before 2, and session 2 stays with 2.",
        ),
    ),
    CatalogueEntry(
        name="no-commit-order",
        title="No commit order",
        meaning="Every order of the versions that the evidence allows breaks the level that was asked "
        "for, although no cycle of known dependencies breaks it.",
        aliases=(),
        breaks=(),
        counted="once per level",
        source="Papadimitriou 1979; Tan et al. 2020",
        example=plume(
            "r(3,0,1,1) w(1,1,1,1) r(2,0,2,2) w(1,2,2,2) r(1,1,3,3) w(2,1,3,3) r(1,2,4,4) w(3,1,4,4)",
            "If 1 wrote key 1 before 2 did, 2 and 3 form a circle, otherwise 1 and 4 do: not serializable.",
        ),
        allowed=plume(
            "r(3,0,1,1) w(1,1,1,1) r(2,0,2,2) w(1,2,2,2) r(1,1,3,3) w(2,1,3,3) r(1,1,4,4) w(3,1,4,4)",
            "If 2 wrote key 1 before 1 did, then 2, 1, 3, 4 is a serial order.",
        ),
    ),
)
