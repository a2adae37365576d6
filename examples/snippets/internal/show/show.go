// Package show prints what is delivered, for examples in which the destination is not the point.
package show

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
)

// Handler is a delivery.Handler that prints a line for each entry.
type Handler struct {
	Kind destination.Type
	Out  io.Writer
	mu   sync.Mutex
}

// Type implements delivery.Handler.
func (h *Handler) Type() destination.Type { return h.Kind }

// Scope implements delivery.Handler.
func (h *Handler) Scope() claim.Scope { return claim.All() }

// Deliver implements delivery.Handler.
func (h *Handler) Deliver(_ context.Context, e delivery.Envelope) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := fmt.Fprintf(h.Out, "%s to %s: %s\n", e.EventType, e.Destination, e.Payload)
	return err
}
