package relay_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
)

// effects is a transactional handler whose effect is an entry of type EFFECT.
type effects struct {
	*recorder
	store *memstore.Store
	inTx  func(e delivery.Envelope) bool
}

func (h *effects) InTx(e delivery.Envelope) bool { return h.inTx == nil || h.inTx(e) }

func (h *effects) DeliverTx(ctx context.Context, tx any, e delivery.Envelope) error {
	at, nth := h.begin(e)
	defer h.end(at, e)
	effect := entryOf("")
	effect.DestinationType, effect.AggregateType = "EFFECT", ""
	if _, err := memstore.NewPublisher(h.store, outbox.Config{}).Publish(context.WithoutCancel(ctx), tx.(*memstore.Tx), effect); err != nil {
		return err
	}
	if h.work == nil {
		return nil
	}
	return h.work(ctx, e, nth)
}

func countEffects(s *memstore.Store) (n int) {
	for _, r := range s.Rows() {
		if r.DestinationType == "EFFECT" {
			n++
		}
	}
	return n
}

func published(s *memstore.Store, n int) func() bool {
	return func() bool { return count(s, outbox.Published) == n }
}

// TestTransactionalHandler: however attempts fail, each entry has its effect once.
func TestTransactionalHandler(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if nth > 1 {
				return nil
			}
			switch e.ID % 5 {
			case 1:
				return errors.New("no")
			case 2:
				panic("no")
			case 3:
				runtime.Goexit()
			case 4:
				return delivery.Unresolvable(errors.New("no"))
			}
			return nil
		})}
		var seen attempts
		publish(t, s, entries(20, func(i int) string { return name("A")(i % 7) })...)
		x := start(t, s, relay.Config{Observers: []relay.Observer{&seen}, UnresolvableDelay: time.Second}, h)
		until(t, "the end", published(s, 20))
		x.end()
		if n := countEffects(s); n != 20 {
			t.Errorf("%d effects of 20 entries", n)
		}
		if len(h.seen()) != 36 || len(seen.all()) != 36 {
			t.Errorf("%d calls and %d observations, want 36", len(h.seen()), len(seen.all()))
		}
		for _, a := range seen.all() {
			if !a.Recorded {
				t.Errorf("not recorded: %+v", a)
			}
		}
	})
}

// TestTransactionLosesItsLease: the effect is rolled back with the refused outcome, and
// another delivery has it.
func TestTransactionLosesItsLease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if e.ID == 1 && nth == 1 {
				takeBack(t, s)
			}
			return nil
		})}
		var seen attempts
		publish(t, s, entries(3, same("A"))...)
		x := start(t, s, relay.Config{Observers: []relay.Observer{&seen}}, h)
		until(t, "the end", published(s, 3))
		x.end()
		if n := countEffects(s); n != 3 {
			t.Errorf("%d effects of 3 entries", n)
		}
		told := seen.all()
		if len(told) != 4 || told[0].Recorded || told[0].Verdict != delivery.VerdictDelivered || !told[1].Recorded {
			t.Errorf("observers were told %+v", told)
		}
		wantOrder(t, h.recorder, 1, 1, 2, 3)
	})
}

// TestTransactionAnswerLost: the commit took effect and nobody knows. The outcome that
// follows is refused, and the effect stays the only one.
func TestTransactionAnswerLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, nil)}
		flaky := storetest.Flaky(s, storetest.Plan{
			{Op: storetest.OpDeliverTx, Call: 1, When: storetest.After}, {Op: storetest.OpDeliverTx, Call: 2},
		})
		publish(t, s, entries(3, unordered)...)
		x := start(t, flaky, relay.Config{Concurrency: 1}, h)
		until(t, "the end", published(s, 3))
		time.Sleep(time.Minute)
		x.end()
		if n := countEffects(s); n != 3 {
			t.Errorf("%d effects of 3 entries", n)
		}
		wantOrder(t, h.recorder, 1, 3, 2) // the second one's first call did not reach it
	})
}

// TestEntriesOutsideTheTransaction: the handler decides per entry, and a decision that
// panics is none.
func TestEntriesOutsideTheTransaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, nil), inTx: func(e delivery.Envelope) bool {
			if e.ID == 3 {
				panic("no")
			}
			return e.ID == 1
		}}
		publish(t, s, entries(3, unordered)...)
		x := start(t, s, relay.Config{}, h)
		until(t, "the end", published(s, 3))
		x.end()
		if n := countEffects(s); n != 1 {
			t.Errorf("%d effects, want that of the first entry", n)
		}
	})
}

// panickyTx is a store whose transactions panic once.
type panickyTx struct {
	*memstore.Store
	panicked *bool
}

func (s panickyTx) Open(o relay.SessionOptions) relay.Session {
	return panickySession{s.Store.Open(o), s.panicked}
}

type panickySession struct {
	relay.Session
	panicked *bool
}

func (s panickySession) DeliverTx(ctx context.Context, o relay.Outcome, work func(context.Context, any) error) (bool, error, error) {
	if !*s.panicked {
		*s.panicked = true
		panic("secret")
	}
	return s.Session.(relay.TxSession).DeliverTx(ctx, o, work)
}

// TestTransactionPanics: a store that panics costs the attempt.
func TestTransactionPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, nil)}
		publish(t, s, entryOf(""))
		x := start(t, panickyTx{s, new(bool)}, relay.Config{}, h)
		until(t, "the end", published(s, 1))
		x.end()
		if r := rows(s)[1]; r.Attempt != 1 || strings.Contains(r.LastError, "secret") || countEffects(s) != 1 {
			t.Errorf("attempt %d, error %q, %d effects", r.Attempt, r.LastError, countEffects(s))
		}
	})
}

// noTx is a store that lends no transaction.
type noTx struct{ *memstore.Store }

func (s noTx) Open(o relay.SessionOptions) relay.Session {
	return struct{ relay.Session }{s.Store.Open(o)}
}

// TestStoreWithoutTransactions: a handler that would like one does without.
func TestStoreWithoutTransactions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &effects{store: s, recorder: handler(t, nil)}
		publish(t, s, entryOf(""))
		x := start(t, noTx{s}, relay.Config{PollingInterval: time.Minute}, h) // no registry either
		until(t, "the end", published(s, 1))
		x.end()
		if len(h.seen()) != 1 || countEffects(s) != 0 {
			t.Errorf("%d calls, %d effects in a transaction that nobody lent", len(h.seen()), countEffects(s))
		}
	})
}
