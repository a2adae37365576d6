package relay_test

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestDeliveryTimeout bounds an attempt, not a run of them.
func TestDeliveryTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(ctx context.Context, e delivery.Envelope, nth int) error {
			deadline, ok := ctx.Deadline()
			if !ok || time.Until(deadline) != 10*time.Second {
				t.Errorf("the deadline is %v away", time.Until(deadline))
			}
			if e.ID == 3 && nth == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(9 * time.Second)
			return nil
		})
		publish(t, s, entries(3, same("A"))...)
		x := start(t, s, relay.Config{DeliveryTimeout: 10 * time.Second}, h)
		until(t, "the end", settled(s))
		x.end()
		if c := h.of(3)[0]; c.End.Sub(c.Start) != 10*time.Second {
			t.Errorf("the attempt ended after %v", c.End.Sub(c.Start))
		}
		if got := rows(s)[3].LastError; got != context.DeadlineExceeded.Error() {
			t.Errorf("the error is %q", got)
		}
	})
}

// TestStoreTimeout bounds each call of the store.
func TestStoreTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		check := func(ctx context.Context) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 7*time.Second {
				t.Errorf("the deadline is %v away", time.Until(deadline))
			}
		}
		w := &wrapped{
			Store: s,
			claim: func(ctx context.Context, next relay.Session, req relay.ClaimRequest) (relay.Batch, error) {
				check(ctx)
				return next.Claim(ctx, req)
			},
			settle: func(ctx context.Context, next relay.Session, o []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
				check(ctx)
				return next.Settle(ctx, o, ended)
			},
		}
		ids := publish(t, s, entryOf(""))
		x := start(t, w, relay.Config{StoreTimeout: 7 * time.Second}, handler(t, nil))
		until(t, "the end", settled(s))
		x.end()
		wantStates(t, s, ids, outbox.Published)
	})
}
