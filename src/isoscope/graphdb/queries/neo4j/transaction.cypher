// One transaction and its events.
MATCH (t:Transaction {id: $id})
RETURN t;
MATCH (t:Transaction {id: $id})-[:did]->(read:ReadEvent)
RETURN read;
MATCH (t:Transaction {id: $id})-[:did]->(write:WriteEvent)
RETURN write
