// Serializability: looks for any cycle.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Every transaction is a start, and the path must lead back to it.
MATCH p = (start:Transaction {graph: $graph})-[:ww|wr|rw*2..4]->(start)
RETURN p
LIMIT 1
