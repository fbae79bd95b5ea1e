// Snapshot isolation: looks for a cycle without two anti-dependencies (rw) in a row.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Every transaction is a start, and the path must lead back to it.
MATCH p = (start:Transaction {graph: $graph})-[:ww|wr|rw*2..4]->(start)
WHERE NOT list_to_string(' ', list_transform(rels(p), r -> r.type)) =~ 'rw.*rw|.*rw rw.*'
RETURN p
LIMIT 1
