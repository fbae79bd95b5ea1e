// Serializability: looks for any cycle.
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Asked for one start after another, in random order, until there is an answer.
MATCH p = (start:Transaction {id: $start})-[:ww|wr|rw*2..4]->(start)
RETURN p
LIMIT 1
