// Which keys cause the most dependencies?
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
RETURN e.key AS key, count(*) AS dependencies
ORDER BY dependencies DESC, key
LIMIT 10
