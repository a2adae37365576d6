package storetest

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

var txDeliveryChecks = []check{
	{"effect and outcome commit together", txDelivery, txCommits},
	{"an error of the work undoes both", txDelivery, txWorkFails},
	{"a panic of the work undoes both", txDelivery, txWorkPanics},
	{"without the lease nothing is committed", txDelivery, txFenced},
	{"the effect may be the successor", txDelivery, txFollowUp},
	{"a context that ends with the work does not undo it", txDelivery, txCommitNotCancelled},
}

// deliverTx delivers h in a transaction that also publishes an entry of aggregate
// "effect" and records a message.
func (e *env) deliverTx(s relay.Session, h held, result error) (recorded bool, workErr, err error) {
	e.Helper()
	return s.(relay.TxSession).DeliverTx(e.ctx, h.outcome(relay.Published), func(ctx context.Context, tx any) error {
		if _, err := e.Adopt(tx).PublishAll(ctx, entry("effect")); err != nil {
			return err
		}
		if _, err := e.Adopt(tx).Once(ctx, inbox.Message{ID: "effect", Source: "tx"}, func(context.Context) error { return nil }); err != nil {
			return err
		}
		return result
	})
}

// effects counts the committed effects.
func (e *env) effects() (n int) {
	e.Helper()
	for _, r := range e.rows() {
		if r.AggregateID == "effect" {
			n++
		}
	}
	return n
}

func txCommits(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	recorded, workErr, err := e.deliverTx(s, h, nil)
	if !recorded || workErr != nil || err != nil {
		e.Fatalf("delivery returned %v, %v, %v", recorded, workErr, err)
	}
	r := e.row(h.ID)
	e.equal("state", r.State, outbox.Published)
	e.equal("published time is set", !r.PublishedAt.IsZero(), true)
	e.equal("effects", e.effects(), 1)
	e.inTx(func(tx Tx) { e.equal("message is new", e.once(tx, inbox.Message{ID: "effect", Source: "tx"}), false) })
	e.equal("settled again", e.settle(s, h.outcome(relay.Published)), []bool{false})
}

func txWorkFails(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	failure := errors.New("work failed")
	recorded, workErr, err := e.deliverTx(s, h, failure)
	if recorded || workErr != failure || err != nil { //nolint:errorlint // it must be this very error, not one that wraps it
		e.Errorf("delivery returned %v, %v, %v; want the error of the work", recorded, workErr, err)
	}
	e.equal("effects", e.effects(), 0)
	e.equal("state", e.row(h.ID).State, outbox.Processing)
	e.inTx(func(tx Tx) { e.equal("message is new", e.once(tx, inbox.Message{ID: "effect", Source: "tx"}), true) })
	e.settled(s, h.failed(relay.Retried, 0)) // it is still held
}

func txWorkPanics(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	func() {
		defer func() {
			if recover() == nil {
				e.Error("the panic of the work did not come through")
			}
		}()
		_, _, _ = s.(relay.TxSession).DeliverTx(e.ctx, h.outcome(relay.Published), func(ctx context.Context, tx any) error {
			e.publishIn(e.Adopt(tx), entry("effect"))
			panic("work")
		})
	}()
	e.equal("effects", e.effects(), 0)
	e.equal("state", e.row(h.ID).State, outbox.Processing)
	e.deliver(s, h)
}

func txFenced(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	old := e.take(s, 1)[0]
	e.expire(old)
	e.reclaim(10)
	fresh := e.take(e.session("two"), 1)[0]
	recorded, workErr, err := e.deliverTx(s, old, nil)
	if recorded || workErr != nil || err != nil {
		e.Errorf("delivery under a lost lease returned %v, %v, %v", recorded, workErr, err)
	}
	e.equal("effects", e.effects(), 0)
	e.equal("lease", e.row(fresh.ID).Lease, fresh.lease)
}

func txFollowUp(e *env) {
	list := e.publish(entry("effect"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	recorded, _, err := e.deliverTx(s, h, nil)
	e.must(err, "delivery")
	e.equal("recorded", recorded, true)
	next := e.take(s, 1)[0]
	if next.ID <= list[0] || next.AggregateID != "effect" {
		e.Errorf("claimed %d, want the successor of %d", next.ID, list[0])
	}
}

func txCommitNotCancelled(e *env) {
	e.publish(entry("a"))
	s := e.session("one")
	h := e.take(s, 1)[0]
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	recorded, workErr, err := s.(relay.TxSession).DeliverTx(ctx, h.outcome(relay.Published), func(ctx context.Context, tx any) error {
		_, err := e.Adopt(tx).PublishAll(ctx, entry("effect"))
		cancel()
		return err
	})
	if !recorded || workErr != nil || err != nil {
		e.Errorf("delivery returned %v, %v, %v", recorded, workErr, err)
	}
	e.equal("effects", e.effects(), 1)
}
