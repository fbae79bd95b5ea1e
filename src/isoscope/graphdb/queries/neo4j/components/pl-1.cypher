// PL-1: looks for a cycle of write dependencies.
// Complete: a cycle lies within one component, and a component of several transactions has one.
// The database has written the number of its strongly connected component to every transaction.
MATCH (before:Transaction {graph: $graph})-[e:ww]->(after:Transaction)
WHERE before.component = after.component
MATCH p = shortestPath((after)-[:ww*1..]->(before))
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1
