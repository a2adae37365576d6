package webhook

import (
	"net/http"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// What the verdicts come to in a relay: entries are published, dead-lettered, or
// keep their attempts.
func TestThroughARelay(t *testing.T) {
	t.Parallel()
	live := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	gone := server(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	busy := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	down := local("http://" + deaf(t))
	live.ID, gone.ID, busy.ID, down.ID = "live", "gone", "busy", "down"
	h := handlerFor(t, Config{}, live, gone, busy, down)

	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{})
	tx := store.Begin()
	for _, id := range []string{"live", "gone", "busy", "down", "elsewhere"} {
		if _, err := publisher.Publish(t.Context(), tx, outbox.Entry{
			DestinationType: destination.HTTP, Destination: id, EventType: "order.placed", Payload: map[string]int{"order": 42},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(store, []delivery.Handler{h}, relay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if attempts, err := r.RunOnce(t.Context(), 10); err != nil || attempts != 4 {
		t.Fatalf("%d attempts, error %v", attempts, err)
	}
	for _, row := range store.Rows() {
		want := map[string]struct {
			state   outbox.State
			attempt int
			err     string
		}{
			"live":      {outbox.Published, 0, ""},
			"gone":      {outbox.DeadLetter, 1, "webhook endpoint answered 410 Gone"},
			"busy":      {outbox.Pending, 1, "webhook endpoint answered 429 Too Many Requests"},
			"down":      {outbox.Pending, 0, "no connection to the webhook endpoint: connection refused"},
			"elsewhere": {outbox.Pending, 0, ""},
		}[row.Destination]
		if row.State != want.state || row.Attempt != want.attempt || row.LastError != want.err {
			t.Errorf("%s: got %s after %d attempts, %q", row.Destination, row.State, row.Attempt, row.LastError)
		}
		if row.Destination == "busy" && row.AvailableAt.Sub(row.UpdatedAt).Minutes() < 9 {
			t.Errorf("busy: due again after %v", row.AvailableAt.Sub(row.UpdatedAt))
		}
	}
}
