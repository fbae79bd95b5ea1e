// Which transactions missed a write of their own session?
MATCH (earlier:Transaction {graph: $graph})<-[e:rw]-(later:Transaction)
WHERE earlier.lane = later.lane AND earlier.place < later.place
RETURN later.name AS reader, earlier.name AS missed, later.session AS session, e.key AS key
ORDER BY reader, missed
LIMIT 20
