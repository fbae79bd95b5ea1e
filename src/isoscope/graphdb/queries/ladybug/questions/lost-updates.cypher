// Which transactions read a key, missed a write of it, and wrote it themselves?
MATCH (t:Transaction {graph: $graph})-[:did]->(read:ReadEvent)-[:event_rw]->(write:WriteEvent),
      (t)-[:did]->(mine:WriteEvent)
WHERE write.transaction <> t.number AND mine.key = read.key
RETURN DISTINCT t.name AS transaction, read.key AS key, read.value AS had_read, mine.value AS wrote,
       write.name AS missed, write.value AS missed_value
ORDER BY transaction, key, missed
LIMIT 20
