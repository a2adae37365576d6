package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
)

var publishChecks = []check{
	{"an entry exists from the commit on", nothing, visibleAtCommit},
	{"a rolled-back entry never exists", nothing, rolledBack},
	{"a rolled-back savepoint leaves nothing", nothing, rolledBackSavepoint},
	{"ids come in the order given", nothing, idsInOrder},
	{"every field is stored", nothing, fieldsStored},
	{"a refused entry leaves the transaction usable", nothing, refusedBeforeSQL},
	{"a nil transaction is refused", nothing, nilTxRefused},
	{"an ended transaction is refused", nothing, endedTxRefused},
	{"the due time is never before the insert", nothing, dueNotBeforeInsert},
	{"a thousand entries in one call", nothing, manyEntries},
	{"the caller's later changes do not matter", nothing, callerKeepsItsMemory},
	{"a cancelled publish gives no id", nothing, cancelledPublish},
}

func visibleAtCommit(e *env) {
	s := e.session("one")
	tx := e.begin()
	id := e.publishIn(tx, entry("a"))[0]
	e.none(s)
	e.equal("rows before the commit", len(e.rows()), 0)
	e.must(tx.Commit(e.ctx), "commit")
	e.equal("claimed", e.take(s, 1)[0].ID, id)
}

func rolledBack(e *env) {
	tx := e.begin()
	e.publishIn(tx, entry("a"), entry(""))
	e.must(tx.Rollback(e.ctx), "rollback")
	id := e.publish(entry("a"))[0]
	e.equal("claimed", ids(e.take(e.session("one"), 1)), []outbox.ID{id})
	e.none(e.session("two"))
	e.equal("rows", len(e.rows()), 1)
}

func rolledBackSavepoint(e *env) {
	message := inbox.Message{ID: "m2", Source: "test"}
	var first, third outbox.ID
	e.inTx(func(tx Tx) {
		first = e.publishIn(tx, entry("a"))[0]
		undo, err := tx.Savepoint(e.ctx)
		e.must(err, "savepoint")
		e.publishIn(tx, entry("a"))
		e.equal("work ran", e.once(tx, message), true)
		e.must(undo(e.ctx), "rollback to savepoint")
		third = e.publishIn(tx, entry("a"))[0]
	})
	s := e.session("one")
	for _, want := range []outbox.ID{first, third} {
		got := e.take(s, 1)
		e.equal("claimed", ids(got), []outbox.ID{want})
		e.deliver(s, got...)
	}
	e.equal("rows", len(e.rows()), 2)
	e.inTx(func(tx Tx) { e.equal("work ran after the rollback", e.once(tx, message), true) })
}

func idsInOrder(e *env) {
	var got []outbox.ID
	e.inTx(func(tx Tx) {
		got = e.publishIn(tx, entries(20, "a")...)
		got = append(got, e.publishIn(tx, entries(20, "a")...)...)
	})
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 40 {
		e.Errorf("ids are not ascending and distinct: %v", got)
	}
	list := entries(10, "")
	for i := range list {
		list[i].EventType = fmt.Sprintf("event.%d", i)
	}
	for i, id := range e.publish(list...) {
		e.equal("event type of the id at its place", e.row(id).EventType, list[i].EventType)
	}
}

func fieldsStored(e *env) {
	wide := strings.Repeat("\U0001F600", 255) // 255 characters, 1020 bytes
	full := with(entry(wide), func(x *outbox.Entry) {
		x.Destination, x.EventType, x.AggregateType, x.MaxAttempts = wide, wide, wide, 7
	})
	bare := entry("")
	got := e.publish(full, bare)
	r := e.row(got[0])
	e.equal("destination", r.Destination, wide)
	e.equal("destination type", r.DestinationType, alpha)
	e.equal("event type", r.EventType, wide)
	e.equal("aggregate type", r.AggregateType, wide)
	e.equal("aggregate id", r.AggregateID, wide)
	e.equal("max attempts", r.MaxAttempts, 7)
	e.equal("state", r.State, outbox.Pending)
	e.equal("attempt and claims", []int{r.Attempt, r.Claims}, []int{0, 0})
	e.equal("settled times set", []bool{!r.PublishedAt.IsZero(), !r.DeadLetteredAt.IsZero()}, []bool{false, false})
	b := e.row(got[1])
	e.equal("no aggregate", b.AggregateID+b.AggregateType, "")
	e.equal("default max attempts", b.MaxAttempts, outbox.DefaultMaxAttempts)
	e.equal("scheduled", b.ScheduledAt.IsZero(), true)
	if r.MessageID == b.MessageID || r.MessageID == (outbox.MessageID{}) || b.CreatedAt.IsZero() {
		e.Errorf("message ids %v and %v, created %v", r.MessageID, b.MessageID, b.CreatedAt)
	}
	for _, h := range e.take(e.session("one"), 2) {
		want := e.row(h.ID)
		e.equal("claimed destination", h.Destination, want.Destination)
		e.equal("claimed event type", h.EventType, want.EventType)
		e.equal("claimed aggregate", h.AggregateType+h.AggregateID, want.AggregateType+want.AggregateID)
		e.equal("claimed message id", h.MessageID, want.MessageID)
		e.equal("claimed attempts", []int{h.Attempt, h.MaxAttempts, h.Claims}, []int{0, want.MaxAttempts, 1})
		e.equal("claimed created time", h.CreatedAt.Equal(want.CreatedAt), true)
	}
}

func refusedBeforeSQL(e *env) {
	e.inTx(func(tx Tx) {
		for _, bad := range []outbox.Entry{
			with(entry(""), func(x *outbox.Entry) { x.EventType = strings.Repeat("x", 256) }),
			with(entry(""), func(x *outbox.Entry) { x.Destination = "\xff" }),
			with(entry(""), func(x *outbox.Entry) { x.Payload = nil }),
			with(entry(""), func(x *outbox.Entry) { x.Headers = map[string]string{"Satchel-X": "1"} }),
		} {
			if got, err := tx.PublishAll(e.ctx, entry(""), bad); !fault.IsInvalid(err) || got != nil {
				e.Errorf("publish returned %v, %v; want a *fault.Invalid", got, err)
			}
		}
		got, err := tx.PublishAll(e.ctx)
		e.must(err, "publish of nothing")
		e.equal("ids of nothing", len(got), 0)
		e.publishIn(tx, entry(""))
	})
	e.equal("rows", len(e.rows()), 1)
}

func nilTxRefused(e *env) {
	if got, err := e.NilTx.PublishAll(e.ctx, entry("")); !fault.IsInvalid(err) || got != nil {
		e.Errorf("publish with a nil transaction returned %v, %v; want a *fault.Invalid", got, err)
	}
	e.equal("rows", len(e.rows()), 0)
}

func endedTxRefused(e *env) {
	committed, rolledBack := e.begin(), e.begin()
	e.publishIn(committed, entry(""))
	e.must(committed.Commit(e.ctx), "commit")
	e.must(rolledBack.Rollback(e.ctx), "rollback")
	for _, tx := range []Tx{committed, rolledBack} {
		_, err := tx.PublishAll(e.ctx, entry(""))
		var failure *fault.Persistence
		if !errors.As(err, &failure) {
			e.Errorf("publish in an ended transaction returned %v, want a *fault.Persistence", err)
		}
	}
	e.equal("rows", len(e.rows()), 1)
}

func dueNotBeforeInsert(e *env) {
	old := e.begin()
	e.publishIn(old, entry("")) // the transaction has certainly begun
	time.Sleep(20 * time.Millisecond)
	other := e.publish(entry(""))[0]
	late := e.publishIn(old, with(entry(""), func(x *outbox.Entry) { x.AvailableAt = time.Now().Add(-time.Hour) }), entry(""))
	e.must(old.Commit(e.ctx), "commit")
	rows := e.rows()
	for _, id := range late {
		if rows[id].AvailableAt.Before(rows[other].AvailableAt) {
			e.Errorf("entry %d was inserted after entry %d and is due %v before it", id, other, rows[other].AvailableAt.Sub(rows[id].AvailableAt))
		}
	}
	// A time in the future is kept, to the microsecond.
	at := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	id := e.publish(with(entry(""), func(x *outbox.Entry) { x.AvailableAt, x.ScheduledAt = at, at.Add(time.Hour) }))[0]
	r := e.row(id)
	e.equal("available", r.AvailableAt.Equal(at), true)
	e.equal("scheduled", r.ScheduledAt.Equal(at.Add(time.Hour)), true)
}

func manyEntries(e *env) {
	got := e.publish(entries(1000, "")...)
	if len(slices.Compact(slices.Sorted(slices.Values(got)))) != 1000 {
		e.Error("ids are not distinct")
	}
	e.equal("rows", len(e.rows()), 1000)
}

func callerKeepsItsMemory(e *env) {
	data := []byte("stable")
	tx := e.begin()
	id := e.publishIn(tx, with(entry(""), func(x *outbox.Entry) { x.Payload = outbox.Raw{ContentType: "text/plain", Data: data} }))[0]
	copy(data, "XXXXXX")
	e.must(tx.Commit(e.ctx), "commit")
	e.equal("payload", string(e.row(id).Payload), "stable")
	// What a handler does with a claimed record does not reach the store either.
	s := e.session("one")
	h := e.take(s, 1)[0]
	copy(h.Payload, "XXXXXX")
	e.equal("payload after a claim", string(e.row(id).Payload), "stable")
}

// cancelledPublish cancels the context at many moments: an entry exists if and only if
// its transaction committed, and an error never comes with an id.
func cancelledPublish(e *env) {
	for i := range rounds(25) {
		tx, err := e.Begin(e.ctx)
		e.must(err, "begin")
		ctx, cancel := context.WithCancel(e.ctx)
		timer := time.AfterFunc(time.Duration(i)*40*time.Microsecond, cancel)
		got, err := tx.PublishAll(ctx, entry(""))
		timer.Stop()
		cancel()
		if err != nil {
			if got != nil {
				e.Errorf("publish returned both %v and an error", got)
			}
			_ = tx.Rollback(e.ctx)
			continue
		}
		// A cancellation may reach the connection after the answer did: then the commit
		// fails, and the entry must not be there.
		_, stored := e.rows()[got[0]]
		e.equal("stored before the commit", stored, false)
		err = tx.Commit(e.ctx)
		_, stored = e.rows()[got[0]]
		e.equal("stored", stored, err == nil)
	}
	tx := e.begin()
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	before := len(e.rows())
	if got, err := tx.PublishAll(ctx, entry("")); err == nil || got != nil {
		e.Errorf("publish with a cancelled context returned %v, %v", got, err)
	}
	_ = tx.Rollback(e.ctx)
	e.equal("rows", len(e.rows()), before)
}
