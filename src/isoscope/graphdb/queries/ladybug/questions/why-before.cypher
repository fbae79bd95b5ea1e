// By which dependencies must one transaction ($from) come before another ($to)?
MATCH (before:Transaction {graph: $graph, name: $from}), (after:Transaction {graph: $graph, name: $to})
MATCH p = (before)-[:ww|wr|rw* SHORTEST]->(after)
RETURN p
LIMIT 1
