// Which keys have the most writes that no other transaction read?
MATCH (write:WriteEvent {graph: $graph})
WHERE NOT EXISTS { MATCH (write)-[:event_wr]->(:ReadEvent) }
RETURN write.key AS key, count(*) AS unread
ORDER BY unread DESC, key
LIMIT 10
