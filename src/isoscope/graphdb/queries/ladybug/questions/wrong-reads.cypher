// Which reads can no order of transactions explain?
MATCH (read:ReadEvent {graph: $graph})
WHERE read.problem <> ''
RETURN read.name AS read, read.key AS key, read.value AS value, read.problem AS problem
ORDER BY read.operation
LIMIT 20
