// Serializability: looks for any cycle.
// Complete: no cycle leaves a block, so that edges inside blocks are enough, and paths have no limit.
// An edge that leads back in time, or may be the one anti-dependency, and the shortest path that closes the cycle.
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
WHERE e.inside AND before.position > after.position
MATCH p = (after)-[:ww|wr|rw* SHORTEST (r, n | WHERE r.inside)]->(before)
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1
