// Reads that no order of transactions explains: each breaks PL-2 or a stronger level by itself.
MATCH (read:ReadEvent {graph: $graph})
WHERE read.problem <> ''
RETURN read
ORDER BY read.operation
