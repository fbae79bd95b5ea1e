// The dependencies between two transactions.
MATCH (before:Transaction {id: $before})-[e:ww|wr|rw]->(after:Transaction {id: $after})
RETURN e
