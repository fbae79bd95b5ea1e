// Which pairs of transactions missed each other's writes?
MATCH (one:Transaction {graph: $graph})-[e:rw]->(other:Transaction)-[f:rw]->(one)
WHERE one.number < other.number
RETURN one.name AS transaction, e.key AS missed, other.name AS partner, f.key AS missed_too
ORDER BY transaction, partner
LIMIT 20
