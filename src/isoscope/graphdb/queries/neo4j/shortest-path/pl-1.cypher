// PL-1: looks for a cycle of write dependencies.
// Complete: no cycle leaves a block, so that edges inside blocks are enough, and paths have no limit.
// An edge that leads back in time, or may be the one anti-dependency, and the shortest path that closes the cycle.
MATCH (before:Transaction {graph: $graph})-[e:ww]->(after:Transaction)
WHERE e.inside AND before.position > after.position
MATCH p = shortestPath((after)-[:ww*1..]->(before))
WHERE all(r IN relationships(p) WHERE r.inside)
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1
