// How much does each session depend on the others?
MATCH (before:Transaction {graph: $graph})-[e:ww|wr|rw]->(after:Transaction)
WHERE before.lane <> after.lane
RETURN after.session AS session, count(*) AS dependencies, count(DISTINCT before.lane) AS sessions
ORDER BY dependencies DESC, session
LIMIT 20
