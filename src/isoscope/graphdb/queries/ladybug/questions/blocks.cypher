// Where can cycles be? The largest blocks, and their transactions.
MATCH (t:Transaction {graph: $graph})
WHERE t.block >= 0
RETURN t.block AS block, count(*) AS transactions, min(t.position) AS first, max(t.position) AS last
ORDER BY transactions DESC, block
LIMIT 10
