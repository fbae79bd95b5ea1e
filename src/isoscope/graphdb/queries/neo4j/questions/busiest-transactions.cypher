// Which transactions depend on the most others, or are depended on?
MATCH (t:Transaction {graph: $graph})-[e:ww|wr|rw]-(other:Transaction)
RETURN t.name AS transaction, t.session AS session, count(DISTINCT other.id) AS neighbours
ORDER BY neighbours DESC, transaction
LIMIT 10
