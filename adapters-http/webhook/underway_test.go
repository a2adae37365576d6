package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
)

// blocked is a handler with a delivery under way, which is answered when release is
// closed. Its result comes over the channel.
func blocked(t *testing.T) (h *Handler, release chan struct{}, result chan error) {
	t.Helper()
	arrived := make(chan struct{})
	release, result = make(chan struct{}), make(chan error, 1)
	endpoint := server(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only after that the server notices a client that leaves
		close(arrived)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	h = handlerFor(t, Config{}, endpoint)
	go func() { result <- h.Deliver(context.Background(), envelope("{}")) }()
	<-arrived
	return h, release, result
}

func TestCloseWaitsForDeliveries(t *testing.T) {
	t.Parallel()
	h, release, result := blocked(t)
	closed := make(chan error, 1)
	idle := h.deliveries.close() // as Close does first
	go func() { closed <- h.Close(context.Background()) }()
	if err := h.Deliver(t.Context(), envelope("{}")); !errors.Is(err, ErrClosed) {
		t.Errorf("a delivery that begins after Close: %v", err)
	}
	select {
	case <-idle:
		t.Error("closed with a delivery under way")
	default:
	}
	close(release)
	if err := <-result; err != nil {
		t.Errorf("the delivery under way: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestCloseInterruptsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	h, _, result := blocked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := h.Close(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "deliveries ended (1)") {
		t.Errorf("close: %v", err)
	}
	// The receiver may have the message: nothing is known about it.
	if err := <-result; delivery.VerdictOf(err) != delivery.VerdictRetryable {
		t.Errorf("the delivery that was interrupted: %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Errorf("close again: %v", err)
	}
}
