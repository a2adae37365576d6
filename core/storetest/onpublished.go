package storetest

import (
	"encoding/json"
	"time"

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var onPublishedChecks = []check{
	{"kept", nothing, func(e *env) { e.onPublished(relay.Keep) }},
	{"archived", archive, func(e *env) { e.onPublished(relay.Archive) }},
	{"deleted", nothing, func(e *env) { e.onPublished(relay.Delete) }},
	{"an archived entry is whole", archive, archivedWhole},
}

// onPublished checks what becomes of a delivered entry, that the other outcomes stay
// in the table, and that its successor can go.
func (e *env) onPublished(mode relay.OnPublished) {
	list := e.publish(entry("a"), entry("a"), entry("b"), entry("c"))
	s := e.Store.Open(relay.SessionOptions{Owner: "one", OnPublished: mode})
	byAggregate := map[string]held{}
	for _, h := range e.take(s, 3) {
		byAggregate[h.AggregateID] = h
	}
	a, b, c := byAggregate["a"], byAggregate["b"], byAggregate["c"]
	e.settled(s, a.outcome(relay.Published), b.failed(relay.DeadLettered, 0), c.failed(relay.Retried, time.Hour))
	rows := e.rows()
	got, there := rows[a.ID]
	e.equal("delivered entry is there", there, mode != relay.Delete)
	e.equal("archived", got.Archived, mode == relay.Archive)
	if there {
		e.equal("state", got.State, outbox.Published)
		e.equal("published time is set", !got.PublishedAt.IsZero(), true)
	}
	for _, h := range []held{b, c} {
		r, ok := rows[h.ID]
		e.equal("entry that was not delivered is in the table", []bool{ok, r.Archived}, []bool{true, false})
	}
	e.equal("again", e.settle(s, a.outcome(relay.Published)), []bool{false})
	next := e.take(s, 1)
	e.equal("successor", ids(next), list[1:2])
	e.expire(a) // the rest of the batch is long settled
	e.equal("returned", e.reclaim(10).Returned, 0)
	e.deliver(s, next...)
	// Ids are never given out again, whatever became of the old ones.
	if id := e.publish(entry("a"))[0]; id <= list[3] {
		e.Errorf("id %d after %d", id, list[3])
	}
}

func archivedWhole(e *env) {
	id := e.publish(with(entry("a"), func(x *outbox.Entry) {
		x.Headers = map[string]string{"k": "v"}
		x.Delivery = map[string]json.RawMessage{"d": json.RawMessage(`9007199254740993`)}
		x.Payload = outbox.Raw{ContentType: "text/plain", Data: []byte{0, 0xff}}
	}))[0]
	before := e.row(id)
	s := e.Store.Open(relay.SessionOptions{Owner: "one", OnPublished: relay.Archive})
	e.deliver(s, e.take(s, 1)...)
	after := e.row(id)
	e.equal("archived", after.Archived, true)
	e.equal("message id", after.MessageID, before.MessageID)
	e.equal("destination", after.Destination+string(after.DestinationType), before.Destination+string(before.DestinationType))
	e.equal("event and aggregate", after.EventType+after.AggregateID, before.EventType+before.AggregateID)
	e.equal("payload", after.Payload, before.Payload)
	e.equal("content type", after.ContentType, before.ContentType)
	e.equal("headers", sameJSON(after.Headers, before.Headers), true)
	e.equal("metadata", sameJSON(after.Metadata, before.Metadata), true)
}
