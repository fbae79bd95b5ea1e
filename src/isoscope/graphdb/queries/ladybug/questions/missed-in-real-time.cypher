// Which transactions missed a write that was complete before they began?
MATCH (earlier:Transaction {graph: $graph})<-[e:rw]-(later:Transaction)
WHERE earlier.complete >= 0 AND later.invoke > earlier.complete
RETURN later.name AS reader, earlier.name AS missed, e.key AS key,
       later.invoke - earlier.complete AS too_late
ORDER BY too_late DESC, reader
LIMIT 20
