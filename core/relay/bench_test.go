package relay_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// noop delivers everything and counts.
type noop struct{ n atomic.Int64 }

func (*noop) Type() destination.Type                             { return "T" }
func (*noop) Scope() claim.Scope                                 { return claim.All() }
func (h *noop) Deliver(context.Context, delivery.Envelope) error { h.n.Add(1); return nil }

// queue is a store whose claims and settlements cost next to nothing, so that what is
// measured is the relay: it hands out up to left entries.
type queue struct {
	left   atomic.Int64
	run    int // entries per aggregate, 0 for none
	record outbox.Record
}

func (q *queue) Open(relay.SessionOptions) relay.Session { return queueSession{queue: q} }

type queueSession struct {
	relay.Session
	*queue
}

func (s queueSession) Claim(_ context.Context, req relay.ClaimRequest) (relay.Batch, error) {
	left := s.left.Add(-int64(req.Limit))
	n := max(0, req.Limit+int(min(0, left)))
	batch := relay.Batch{Lease: relay.LeaseID(left), Records: make([]outbox.Record, n), More: left > 0}
	for i := range batch.Records {
		batch.Records[i] = s.record
		batch.Records[i].ID = outbox.ID(left + int64(n-i))
		if s.run > 0 {
			batch.Records[i].AggregateID = aggregateNames[i/s.run%len(aggregateNames)]
		}
	}
	return batch, nil
}

var aggregateNames = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}

func (s queueSession) Settle(_ context.Context, o []relay.Outcome, _ []relay.LeaseID) ([]bool, error) {
	recorded := make([]bool, len(o))
	for i := range recorded {
		recorded[i] = true
	}
	return recorded, nil
}

// BenchmarkRelayNoop measures the relay alone; one operation is one entry.
func BenchmarkRelayNoop(b *testing.B) {
	for _, c := range []struct {
		name string
		cfg  relay.Config
		run  int
	}{
		{"batch50", relay.Config{}, 0},
		{"batch500", relay.Config{BatchSize: 500, Concurrency: 50}, 0},
		{"batch500runs50", relay.Config{BatchSize: 500, Concurrency: 50}, 50},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := &noop{}
			q := &queue{run: c.run, record: outbox.Record{
				DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: 20, Payload: []byte(`{"id":1}`), Metadata: []byte(`{}`),
			}}
			q.left.Store(int64(b.N))
			r := newRelay(b, q, c.cfg, h)
			b.ReportAllocs()
			b.ResetTimer()
			if n, err := r.Drain(context.Background()); n != b.N || err != nil {
				b.Fatal(n, err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkRelayMemstore is the same over the in-memory store, which also stores.
func BenchmarkRelayMemstore(b *testing.B) {
	h := &noop{}
	s := memstore.New(memstore.Config{})
	const backlog = 2000 // the store looks at all of it in every claim
	for done := 0; done < b.N; done += backlog {
		b.StopTimer()
		n := min(backlog, b.N-done)
		publish(b, s, entries(n, unordered)...)
		b.StartTimer()
		if got, err := newRelay(b, s, relay.Config{BatchSize: 500, Concurrency: 50, OnPublished: relay.Delete}, h).Drain(context.Background()); got != n || err != nil {
			b.Fatal(got, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
