// Serializability: looks for any cycle.
// Complete: a cycle lies within one component, and a component of several transactions has one.
// The database has written the number of its strongly connected component to every transaction.
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
WHERE before.component = after.component
MATCH p = shortestPath((after)-[:ww|wr|rw*1..]->(before))
RETURN e, p
ORDER BY length(p), e.before, e.after
LIMIT 1
