package outboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// Recorder is a delivery.Handler that keeps every envelope it is given and delivers it, for
// what stands in the place of a broker. It is safe for concurrent use.
type Recorder struct {
	kind  destination.Type
	scope claim.Scope

	mu      sync.Mutex
	got     []delivery.Envelope // guarded by mu
	changed chan struct{}       // closed and replaced with each envelope; guarded by mu
}

var _ delivery.Handler = (*Recorder)(nil)

// NewRecorder returns a recorder for a destination type. With names it serves those
// destinations only, without names every one of the type. The type is checked by
// relay.New.
func NewRecorder(kind destination.Type, names ...string) *Recorder {
	r := &Recorder{kind: kind, scope: claim.All(), changed: make(chan struct{})}
	if len(names) > 0 {
		r.scope = claim.Targets(func() []string { return names })
	}
	return r
}

// Type implements delivery.Handler.
func (r *Recorder) Type() destination.Type { return r.kind }

// Scope implements delivery.Handler.
func (r *Recorder) Scope() claim.Scope { return r.scope }

// Deliver implements delivery.Handler. A context that has ended is an error.
func (r *Recorder) Deliver(ctx context.Context, e delivery.Envelope) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, clone(e))
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

// Delivered returns what was delivered so far, duplicates included, in order.
func (r *Recorder) Delivered() []delivery.Envelope {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Wait returns once there are at least n envelopes, with all there are then. When ctx ends
// first it returns those there are, and ctx's error.
func (r *Recorder) Wait(ctx context.Context, n int) ([]delivery.Envelope, error) {
	for {
		r.mu.Lock()
		got, changed := slices.Clone(r.got), r.changed
		r.mu.Unlock()
		if len(got) >= n {
			return got, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
}

// clone returns a copy that shares no memory with e, which belongs to the relay.
func clone(e delivery.Envelope) delivery.Envelope {
	e.Payload = bytes.Clone(e.Payload)
	e.Headers = maps.Clone(e.Headers)
	e.Metadata.Context = cloneDocs(e.Metadata.Context)
	e.Metadata.Delivery = cloneDocs(e.Metadata.Delivery)
	return e
}

func cloneDocs(docs map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(docs)
	for key, doc := range out {
		out[key] = bytes.Clone(doc)
	}
	return out
}
