// Parallel snapshot isolation: looks for a cycle with at most one anti-dependency (rw).
// Incomplete: longer cycles than the depth, 4, are not found; --depth writes another number here.
// Asked for one start after another, in random order, until there is an answer.
MATCH p = (start:Transaction {id: $start})-[:ww|wr|rw*2..4]->(start)
WHERE NOT substring(reduce(types = '', r IN relationships(p) | types + ' ' + r.type), 1) =~ '.*rw.*rw.*'
RETURN p
LIMIT 1
