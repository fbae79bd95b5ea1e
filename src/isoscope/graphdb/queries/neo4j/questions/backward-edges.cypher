// Which dependencies lead back in time? Every cycle has one.
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
WHERE before.position > after.position
RETURN before.name AS transaction, e.type AS relation, after.name AS earlier, e.key AS key,
       before.position - after.position AS distance
ORDER BY distance DESC, transaction, earlier
LIMIT 20
