// Snapshot isolation: looks for a cycle without two anti-dependencies (rw) in a row.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Every transaction is a start, and the path must lead back to it.
MATCH p = (start:Transaction {graph: $graph})-[:ww|wr|rw*2..4]->(start)
WHERE NOT substring(reduce(types = '', r IN relationships(p) | types + ' ' + r.type), 1) =~ 'rw.*rw|.*rw rw.*'
RETURN p
LIMIT 1
