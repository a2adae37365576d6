package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/listener"
)

// Three relays, no two of which can deliver the same things, and aggregates whose entries need all of them by turns.
// Deliveries fail and dawdle at random.
func TestOrderAcrossNodesWithDifferentScopes(t *testing.T) {
	s := newStage(t)
	type reach struct {
		kind  destination.Type
		names []string
	}
	const x, y = "X", "Y"
	destinations := []struct {
		kind destination.Type
		name string
	}{{x, "one"}, {x, "two"}, {y, "one"}, {y, "two"}, {lab.Kind, "somewhere"}}
	l := lab.Listen(t, s.db, listener.Config{})
	for i, reaches := range [][]reach{
		{{x, nil}, {lab.Kind, nil}},
		{{x, []string{"one"}}, {y, []string{"two"}}},
		{{y, []string{"one"}}, {lab.Kind, nil}, {x, []string{"two"}}},
	} {
		node := fmt.Sprint("node-", i)
		cfg := lab.Fast()
		cfg.Owner, cfg.Strategy, cfg.Waker, cfg.PollingInterval = node, relay.ListenNotify, l, time.Second
		cfg.LeaseTimeout = 20 * time.Second // nobody dies here, however slow the machine
		var handlers []delivery.Handler
		for _, r := range reaches {
			handlers = append(handlers, lab.Handler{Serves: r.kind, Names: r.names, Do: func(ctx context.Context, e delivery.Envelope) error {
				return s.journal.Record(ctx, node, e, func(context.Context, int) error {
					time.Sleep(rand.N(3 * time.Millisecond))
					switch rand.N(40) {
					case 0:
						return errors.New("try again")
					case 1:
						return delivery.Permanent(errors.New("never"))
					case 2:
						return delivery.Unresolvable(errors.New("not here"))
					}
					return nil
				})
			}})
		}
		lab.Relay(t, lab.Store(t, s.pool), cfg, handlers...)
	}
	aggregates, length := 50, lab.Sized(40, 200)
	for n := 1; n <= length; n++ {
		entries := make([]outbox.Entry, aggregates)
		for a := range entries {
			d := destinations[rand.N(len(destinations))]
			entries[a] = lab.Entry(fmt.Sprint("aggregate-", a), n)
			entries[a].DestinationType, entries[a].Destination = d.kind, d.name
		}
		lab.Publish(t, s.pool, entries...)
	}
	lab.Eventually(t, "every entry is settled", func() bool {
		return lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE published_at IS NULL AND dead_lettered_at IS NULL`) == 0
	})
	s.journal.Check(t, s.pool, 0)
}

// One transaction gives all its entries nearly one time: they are ordered by their ids.
func TestOrderWithinOneTransaction(t *testing.T) {
	s := newStage(t)
	entries := make([]outbox.Entry, 100)
	for i := range entries {
		entries[i] = lab.Entry("a", i+1)
	}
	lab.Publish(t, s.pool, entries...)
	for i := range 3 {
		cfg := lab.Fast()
		cfg.BatchSize, cfg.LeaseTimeout = 7, 20*time.Second
		lab.Relay(t, lab.Store(t, s.pool), cfg, s.journalled(fmt.Sprint("node-", i), func(context.Context, int) error {
			time.Sleep(rand.N(2 * time.Millisecond))
			return nil
		}))
	}
	s.published(100)
	s.journal.Check(t, s.pool, 0)
}

// settled tells what of an aggregate was delivered, in order.
func (s *stage) settled(aggregate string) string {
	s.Helper()
	out := ""
	for _, e := range s.journal.Events(s) {
		if e.Kind == lab.Delivered && e.Aggregate == aggregate {
			out += fmt.Sprint(e.N, " ")
		}
	}
	return out
}

// The rule for an entry that is scheduled for later: it holds back what follows it in its aggregate, and nothing that
// comes before it, wherever batches end.
func TestScheduledEntryHoldsBackItsAggregate(t *testing.T) {
	s := newStage(t)
	later := func(aggregate string, n int, wait time.Duration) outbox.Entry {
		e := lab.Entry(aggregate, n)
		e.ScheduledAt = time.Now().Add(wait)
		return e
	}
	due := time.Now().Add(4 * time.Second)
	lab.Publish(t, s.pool, later("future head", 1, time.Hour), lab.Entry("future head", 2),
		lab.Entry("in the middle", 1), later("in the middle", 2, 4*time.Second), lab.Entry("in the middle", 3))
	for _, batch := range []int{1, 10} {
		cfg := lab.Fast()
		cfg.BatchSize, cfg.LeaseTimeout = batch, 20*time.Second // nobody takes expired leases back here
		lab.Relay(t, lab.Store(t, s.pool), cfg, s.journalled(fmt.Sprint("batches of ", batch), nil))
	}
	s.published(1)
	if got := s.settled("in the middle"); got != "1 " && time.Now().Before(due) {
		t.Errorf("before the middle is due: %s", got)
	}
	s.published(3)
	if got := s.settled("in the middle"); got != "1 2 3 " {
		t.Errorf("in the end: %s", got)
	}
	if early := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE published_at < scheduled_at`); early != 0 {
		t.Error("the scheduled entry came early")
	}
	if got := s.settled("future head"); got != "" {
		t.Errorf("delivered behind an entry of the future: %s", got)
	}
}

// The rule for identity: the id alone orders, whatever its type; no id means no order.
func TestTheIDAloneOrders(t *testing.T) {
	s := newStage(t)
	order, customer := lab.Entry("42", 1), lab.Entry("42", 2)
	order.AggregateType, customer.AggregateType = "Order", "Customer"
	lab.Publish(t, s.pool, order, customer)
	release := make(chan struct{})
	var free []outbox.Entry
	for n := range 20 {
		free = append(free, lab.Entry("", n+100))
	}
	free[0].Destination = "slow"
	lab.Publish(t, s.pool, free...)
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE aggregate_id = ''`); n != 0 {
		t.Errorf("%d entries with an empty id, which would be an order of its own", n)
	}
	cfg := lab.Fast()
	cfg.LeaseTimeout = 20 * time.Second
	lab.Relay(t, lab.Store(t, s.pool), cfg, s.journalled("node", func(_ context.Context, n int) error {
		if n == 1 || n == 100 {
			<-release
		}
		return nil
	}))
	s.published(19)                    // all without an id, but the slow one
	time.Sleep(200 * time.Millisecond) // many claims
	if n := s.journal.Count(t, lab.Began); n != 21 {
		t.Errorf("%d deliveries began, want 20 and the head of 42", n)
	}
	close(release)
	s.published(22)
	s.journal.Check(t, s.pool, 0)
}

// Entries of types that no node knows wait, whatever the type is called.
func TestUnknownTypesStay(t *testing.T) {
	s := newStage(t)
	for i, kind := range []string{"FUTURE", "test", "TEST2", "T", "with space", "ä"} {
		s.db.Exec(t, `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload, metadata, max_attempts)
			VALUES (gen_random_uuid(), 'e', $1, $2, '{}', '{}', 1)`, fmt.Sprint("d", i), kind)
	}
	lab.Publish(t, s.pool, lab.Entry("a", 1))
	cfg := lab.Fast()
	cfg.LeaseTimeout = 20 * time.Second // nobody takes expired leases back here
	lab.Relay(t, lab.Store(t, s.pool), cfg, s.journalled("node", nil))
	s.published(1)
	time.Sleep(500 * time.Millisecond) // many claims
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox WHERE state = 'PENDING' AND attempt = 0 AND claims = 0 AND last_error IS NULL`); n != 6 {
		t.Errorf("%d entries untouched, want 6: %s", n, lab.States(t, s.pool))
	}
}
