// One event.
MATCH (event:ReadEvent {id: $id})
RETURN event;
MATCH (event:WriteEvent {id: $id})
RETURN event
