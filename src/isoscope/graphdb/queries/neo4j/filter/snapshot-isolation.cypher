// Snapshot isolation: looks for a cycle without two anti-dependencies (rw) in a row.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// The path may end anywhere; a filter keeps those that end where they started.
MATCH p = (start:Transaction {graph: $graph})-[:ww|wr|rw*2..4]->(last:Transaction)
WHERE last.id = start.id
  AND NOT substring(reduce(types = '', r IN relationships(p) | types + ' ' + r.type), 1) =~ 'rw.*rw|.*rw rw.*'
RETURN p
LIMIT 1
