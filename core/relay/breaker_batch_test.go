package relay_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/relay"
)

// half delivers the second entry of its first batch and finds the destination down for
// the others, like a broker that died between two acknowledgements.
type half struct {
	*recorder
	batches int
}

func (h *half) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	h.batches++
	results := make([]error, len(batch))
	if h.batches == 1 {
		for i := range results {
			results[i] = delivery.Unavailable(errors.New("gone"))
		}
		results[1] = nil
	}
	return results
}

// TestLateAnswerDoesNotClose: an answer that was on its way when the destination was
// found down does not close the breaker.
func TestLateAnswerDoesNotClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := &half{recorder: handler(t, nil)}
		publish(t, s, entries(3, unordered)...)
		var seen attempts
		x := start(t, s, relay.Config{ProbeDelay: time.Second, Observers: []relay.Observer{&seen}}, h)
		until(t, "all entries", settled(s))
		time.Sleep(time.Second)
		x.end()
		want := []relay.BreakerState{relay.BreakerOpen, relay.BreakerHalfOpen, relay.BreakerClosed}
		if got := seen.states(); !slices.Equal(got, want) {
			t.Errorf("the breaker went through %v, want %v", got, want)
		}
	})
}
