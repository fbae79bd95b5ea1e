// Snapshot isolation: looks for a cycle without two anti-dependencies (rw) in a row.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Asked for one start after another, in random order, until there is an answer.
MATCH p = (start:Transaction {id: $start})-[:ww|wr|rw*2..4]->(start)
WHERE NOT list_to_string(' ', list_transform(rels(p), r -> r.type)) =~ 'rw.*rw|.*rw rw.*'
RETURN p
LIMIT 1
