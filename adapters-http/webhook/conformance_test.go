package webhook

import (
	"io"
	"net/http"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	deliverytest.Run(t, deliverytest.Harness{
		Known: "orders",
		New: func(t *testing.T) delivery.Handler {
			return handlerFor(t, Config{}, server(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusNoContent)
			}))
		},
		// Failures that a handler cannot know happen on the wire here: a receiver that
		// drops the connection instead of an answer.
		Failing: func(t *testing.T, _ error) delivery.Handler {
			return handlerFor(t, Config{}, server(t, func(http.ResponseWriter, *http.Request) {
				panic(http.ErrAbortHandler)
			}))
		},
	})
}
