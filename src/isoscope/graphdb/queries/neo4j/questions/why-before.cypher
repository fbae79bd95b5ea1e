// By which dependencies must one transaction ($from) come before another ($to)?
MATCH (before:Transaction {graph: $graph, name: $from}), (after:Transaction {graph: $graph, name: $to})
MATCH p = shortestPath((before)-[:ww|wr|rw*1..]->(after))
RETURN p
LIMIT 1
