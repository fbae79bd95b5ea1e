// Which writes were read by the most transactions?
MATCH (write:WriteEvent {graph: $graph})-[:event_wr]->(read:ReadEvent)
RETURN write.name AS write, write.key AS key, write.value AS value,
       count(DISTINCT read.transaction) AS readers
ORDER BY readers DESC, write
LIMIT 10
