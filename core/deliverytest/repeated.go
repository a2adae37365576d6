package deliverytest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core/delivery"
)

// duplicate: a crash between a delivery and its settlement makes it come again, with
// the same message id, perhaps after others.
func duplicate(b *bench) {
	e := b.envelope(b.handler)
	b.want("first", b.attempt(b.Context(), clone(e)), delivery.VerdictDelivered)
	b.want("again", b.attempt(b.Context(), clone(e)), delivery.VerdictDelivered)
	b.want("another", b.attempt(b.Context(), b.envelope(b.handler)), delivery.VerdictDelivered)
	e.Attempt++
	b.want("a later attempt", b.attempt(b.Context(), clone(e)), delivery.VerdictDelivered)
}

// atOnce delivers from many goroutines, and uses the memory of each envelope again as
// soon as its delivery is over: under the race detector that finds what was kept.
func atOnce(b *bench) {
	const workers, each = 8, 8
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				e := clone(b.envelope(b.handler))
				if err := b.attempt(b.Context(), e); err != nil {
					b.Errorf("delivery at once: %v", err)
				}
				scribble(&e)
			}
		})
	}
	wg.Wait()
}

// batches checks the batch method of handlers that have one: a result for each entry,
// at its place, whatever happens to its neighbours.
func batches(b *bench) {
	h, ok := b.handler.(delivery.BatchHandler)
	if !ok {
		b.Skip("the handler takes no batches")
	}
	ctx, cancel := context.WithTimeout(b.Context(), deadline)
	defer cancel()
	deliver := func(batch []delivery.Envelope) []error {
		b.Helper()
		results := h.DeliverBatch(ctx, batch)
		if len(results) != len(batch) {
			b.Fatalf("%d results for a batch of %d", len(results), len(batch))
		}
		return results
	}
	deliver(nil)
	for _, n := range []int{1, 2, 50} {
		batch := make([]delivery.Envelope, n)
		for i := range batch {
			batch[i] = b.envelope(b.handler)
		}
		for i, err := range deliver(batch) {
			if err != nil {
				b.Errorf("entry %d of %d valid ones: %v", i, n, err)
			}
		}
	}
	// One that fails, at each place in turn.
	spoil := map[string]func(*delivery.Envelope){}
	if b.hasTargets() {
		spoil["unknown destination"] = func(e *delivery.Envelope) { e.Destination = unknown }
	}
	if b.Undecodable != nil {
		spoil["undecodable payload"] = b.Undecodable
	}
	for name, change := range spoil {
		for place := range 3 {
			batch := []delivery.Envelope{b.envelope(b.handler), b.envelope(b.handler), b.envelope(b.handler)}
			change(&batch[place])
			for i, err := range deliver(batch) {
				if (i == place) != (err != nil) {
					b.Errorf("%s at place %d: the result at %d is %v", name, place, i, err)
				}
			}
		}
	}
	ended, end := context.WithCancel(b.Context())
	end()
	for _, err := range h.DeliverBatch(ended, []delivery.Envelope{b.envelope(b.handler)}) {
		b.want("ended context", err, delivery.VerdictDelivered, delivery.VerdictRetryable, delivery.VerdictUnavailable)
	}
}

// fingerprints checks handlers that know which physical destination they talk to.
func fingerprints(b *bench) {
	f, ok := b.handler.(delivery.Fingerprinter)
	if !ok {
		b.Skip("the handler has no fingerprints")
	}
	mark := f.Fingerprint(b.Context(), b.Known)
	if again := f.Fingerprint(b.Context(), b.Known); again != mark {
		b.Error("the fingerprint changes")
	}
	for _, name := range []string{"", unknown, strings.Repeat("x", 255)} {
		f.Fingerprint(b.Context(), name) // must only not panic
	}
	if mark == "" {
		return
	}
	doc, err := json.Marshal(mark)
	if err != nil || len(mark) > 255 {
		b.Errorf("the fingerprint is not a short text: %v", err)
	}
	e := b.envelope(b.handler)
	fingerprint(&e, string(doc))
	if err := delivery.CheckFingerprint(b.Context(), b.handler, &e); err != nil {
		b.Errorf("an entry with the handler's own fingerprint: %v", err)
	}
	fingerprint(&e, `"another"`)
	b.want("another fingerprint", delivery.CheckFingerprint(b.Context(), b.handler, &e), delivery.VerdictUnresolvable)
}
