// PL-1: looks for a cycle of write dependencies.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// The path may end anywhere; a filter keeps those that end where they started.
MATCH p = (start:Transaction {graph: $graph})-[:ww*2..4]->(last:Transaction)
WHERE last.id = start.id
RETURN p
LIMIT 1
