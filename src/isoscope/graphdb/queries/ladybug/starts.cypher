// The ids of all transactions.
MATCH (start:Transaction {graph: $graph})
RETURN start.id
ORDER BY start.number
