package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// The destination types of the suite.
const (
	alpha destination.Type = "ALPHA"
	beta  destination.Type = "BETA"
	gamma destination.Type = "GAMMA"
)

// patience is how long a check waits for what a store may find late. Usually that is
// milliseconds; on a busy machine a transaction may stay open for longer than a store
// looks back, and then only its slowest way of finding entries is left.
const patience = 90 * time.Second

// env is one test: a fixture with shorthands that fail the test.
type env struct {
	*testing.T
	Fixture
	ctx context.Context
}

// must fails the test on an error; what says what was tried.
func (e *env) must(err error, what string) {
	e.Helper()
	if err != nil {
		e.Fatalf("%s: %v", what, err)
	}
}

// entry returns a valid entry of type alpha; an empty aggregate means unordered.
func entry(aggregate string) outbox.Entry {
	return outbox.Entry{
		DestinationType: alpha, Destination: "orders", EventType: "order.confirmed",
		AggregateID: aggregate, Payload: json.RawMessage(`{"n":1}`),
	}
}

// with returns e changed by f.
func with(e outbox.Entry, f func(*outbox.Entry)) outbox.Entry {
	f(&e)
	return e
}

// entries returns n entries of one aggregate.
func entries(n int, aggregate string) []outbox.Entry {
	all := make([]outbox.Entry, n)
	for i := range all {
		all[i] = entry(aggregate)
	}
	return all
}

func (e *env) begin() Tx {
	e.Helper()
	tx, err := e.Begin(e.ctx)
	e.must(err, "begin")
	e.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(e.ctx)) })
	return tx
}

// inTx runs f in a transaction and commits it.
func (e *env) inTx(f func(tx Tx)) {
	e.Helper()
	tx := e.begin()
	f(tx)
	e.must(tx.Commit(e.ctx), "commit")
}

// publishIn publishes in an open transaction.
func (e *env) publishIn(tx Statements, list ...outbox.Entry) []outbox.ID {
	e.Helper()
	ids, err := tx.PublishAll(e.ctx, list...)
	e.must(err, "publish")
	if len(ids) != len(list) {
		e.Fatalf("publish returned %d ids for %d entries", len(ids), len(list))
	}
	return ids
}

// publish publishes entries in one committed transaction.
func (e *env) publish(list ...outbox.Entry) (ids []outbox.ID) {
	e.Helper()
	e.inTx(func(tx Tx) { ids = e.publishIn(tx, list...) })
	return ids
}

// session opens a session that keeps what it published.
func (e *env) session(owner string) relay.Session {
	return e.Store.Open(relay.SessionOptions{Owner: owner, OnPublished: relay.Keep})
}

// scope resolves capabilities.
func (e *env) scope(caps claim.Capabilities) claim.Snapshot {
	e.Helper()
	s, err := claim.Resolve(caps)
	e.must(err, "resolve scope")
	return s
}

// request asks for everything of the suite's types, one entry per aggregate.
func (e *env) request() relay.ClaimRequest {
	e.Helper()
	return relay.ClaimRequest{
		Limit: 1000, RunLength: 1, Lease: time.Hour,
		Scope: e.scope(claim.Capabilities{alpha: claim.All(), beta: claim.All(), gamma: claim.All()}),
	}
}

// rows returns the stored rows by id.
func (e *env) rows() map[outbox.ID]Row {
	e.Helper()
	list, err := e.Table.Rows(e.ctx)
	e.must(err, "read rows")
	byID := make(map[outbox.ID]Row, len(list))
	for _, r := range list {
		byID[r.ID] = r
	}
	return byID
}

// row returns one stored row, which must exist.
func (e *env) row(id outbox.ID) Row {
	e.Helper()
	r, ok := e.rows()[id]
	if !ok {
		e.Fatalf("entry %d is not stored", id)
	}
	return r
}

// equal compares two values by their text, which is what a reader of the failure sees.
func (e *env) equal(what string, got, want any) {
	e.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		e.Errorf("%s: got %s, want %s", what, g, w)
	}
}
