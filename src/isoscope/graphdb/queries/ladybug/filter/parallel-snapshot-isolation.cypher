// Parallel snapshot isolation: looks for a cycle with at most one anti-dependency (rw).
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// The path may end anywhere; a filter keeps those that end where they started.
MATCH p = (start:Transaction {graph: $graph})-[:ww|wr|rw*2..4]->(last:Transaction)
WHERE last.id = start.id
  AND NOT list_to_string(' ', list_transform(rels(p), r -> r.type)) =~ '.*rw.*rw.*'
RETURN p
LIMIT 1
