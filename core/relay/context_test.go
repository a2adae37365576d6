package relay_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/core/relay"
)

// TestPropagation: context that was stored at publish is there when the handler runs, and
// what cannot be read is dropped.
func TestPropagation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		set := propagation.NewSet(slog.New(slog.DiscardHandler), propagation.Standard()...)
		s := memstore.New(memstore.Config{})
		tx := s.Begin()
		ctx := propagation.With(t.Context(), propagation.Correlation, "c-17")
		if _, err := memstore.NewPublisher(s, outbox.Config{Propagation: set}).Publish(ctx, tx, entryOf("")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		insert(t, s, outbox.Record{
			DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: 1,
			Metadata: []byte(`{"context":{"correlation":[],"unknown":"x"}}`),
		})
		got := map[outbox.ID]string{}
		h := handler(t, func(ctx context.Context, e delivery.Envelope, _ int) error {
			got[e.ID] = propagation.From(ctx, propagation.Correlation)
			return nil
		})
		if n, err := newRelay(t, s, relay.Config{Propagation: set, Concurrency: 1}, h).Drain(t.Context()); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		if got[1] != "c-17" || got[2] != "" {
			t.Errorf("the handler saw %v", got)
		}
	})
}

// fingerprinted is a handler that is connected to the cluster "blue".
type fingerprinted struct{ *recorder }

func (fingerprinted) Fingerprint(context.Context, string) string { return "blue" }

// TestFingerprint: an entry for another physical destination is unresolvable here.
func TestFingerprint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		var ids []outbox.ID
		for _, mark := range []string{`"blue"`, `"green"`, `{}`} {
			ids = append(ids, insert(t, s, outbox.Record{
				DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: 1,
				Metadata: []byte(`{"delivery":{"` + outbox.FingerprintKey + `":` + mark + `}}`),
			}))
		}
		h := fingerprinted{handler(t, nil)}
		if _, err := newRelay(t, s, relay.Config{}, h).Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantStates(t, s, ids, outbox.Published, outbox.Pending, outbox.Published)
		if r := rows(s)[2]; r.Attempt != 0 || !r.Due().After(time.Now()) || len(h.of(2)) != 0 {
			t.Errorf("attempt %d, due %v, %d calls", r.Attempt, r.Due(), len(h.of(2)))
		}
	})
}

// TestHandlersKeepTheValuesOfRun: only the cancellation is left out of their context.
func TestHandlersKeepTheValuesOfRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		type key struct{}
		s := memstore.New(memstore.Config{})
		got := make(chan any, 1)
		h := handler(t, func(ctx context.Context, _ delivery.Envelope, _ int) error { got <- ctx.Value(key{}); return nil })
		publish(t, s, entryOf(""))
		if n, err := newRelay(t, s, relay.Config{}, h).Drain(context.WithValue(t.Context(), key{}, 7)); n != 1 || err != nil {
			t.Errorf("Drain: %d, %v", n, err)
		}
		if v := <-got; v != 7 {
			t.Errorf("the handler sees %v", v)
		}
	})
}
