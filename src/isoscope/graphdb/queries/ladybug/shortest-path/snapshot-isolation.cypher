// Snapshot isolation: looks for a cycle without two anti-dependencies (rw) in a row.
// Complete: no cycle leaves a block, so that edges inside blocks are enough, and paths have no limit.
// An edge that leads back in time, or may be the one anti-dependency, and the shortest path that closes the cycle.
// First those with one anti-dependency.
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
WHERE e.inside
MATCH p = (after)-[:ww|wr* SHORTEST (r, n | WHERE r.inside)]->(before)
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1;
// An edge `snapshot` is a dependency, alone or followed by one anti-dependency.
MATCH (before:Transaction {graph: $graph})-[e:snapshot]->(after:Transaction)
WHERE e.inside AND before.position > after.position
MATCH p = (after)-[:snapshot* SHORTEST (r, n | WHERE r.inside)]->(before)
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1
