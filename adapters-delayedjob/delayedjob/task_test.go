package delayedjob

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestRunAtNeverEarly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for range 20_000 {
		scheduled := now.Add(time.Duration(rand.Int64N(int64(100*365*24*time.Hour)) - int64(24*time.Hour)))
		at, later := runAt(scheduled, now)
		if later != scheduled.After(now) {
			t.Fatalf("%v after now is later=%v", scheduled.Sub(now), later)
		}
		if !later {
			continue
		}
		if at.Nanosecond() != 0 || at.Before(scheduled) || at.Sub(scheduled) >= time.Second {
			t.Fatalf("%v is handed over as %v", scheduled, at)
		}
	}
}

func TestRunAtExtremes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, scheduled := range map[string]time.Time{
		"zero": {}, "unix zero": time.Unix(0, 0), "just now": now, "year 1": time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC),
	} {
		if at, later := runAt(scheduled, now); later || !at.IsZero() {
			t.Errorf("%s is later: %v", name, at)
		}
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	if at, later := runAt(last, now); !later || !at.Equal(last) {
		t.Errorf("the last second of 9999 is handed over as %v", at)
	}
	if at, later := runAt(last.Add(-time.Nanosecond), now); !later || !at.Equal(last) {
		t.Errorf("a moment before it is handed over as %v", at)
	}
}

func TestWhatNoAttemptCanEnqueueIsPermanent(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	for name, c := range map[string]struct {
		change func(*delivery.Envelope)
		text   string
	}{
		"zero message id":   {func(e *delivery.Envelope) { e.MessageID = outbox.MessageID{} }, "message id is zero"},
		"no snapshot":       {func(e *delivery.Envelope) { e.Metadata.Delivery = nil }, "snapshot is missing"},
		"broken snapshot":   {func(e *delivery.Envelope) { e.Metadata.Delivery[DeliveryKey] = json.RawMessage(`[1]`) }, "snapshot is not an object"},
		"raw payload":       {func(e *delivery.Envelope) { e.ContentType = "text/plain" }, "payload is raw"},
		"payload not JSON":  {func(e *delivery.Envelope) { e.Payload = []byte("secret") }, "payload is not valid JSON"},
		"nothing but an id": {func(e *delivery.Envelope) { *e = delivery.Envelope{Destination: "a"} }, "payload is raw"},
	} {
		t.Run(name, func(t *testing.T) {
			e := envelope("a", Snapshot{"q", 0, 3})
			c.change(&e)
			err := h.Deliver(t.Context(), e)
			wantVerdict(t, err, delivery.VerdictPermanent)
			wantText(t, err, c.text)
			if !fault.IsInvalid(err) {
				t.Errorf("error is %T, want *fault.Invalid inside", err)
			}
		})
	}
	if keys := s.mini.Keys(); len(keys) != 0 {
		t.Errorf("redis holds %v", keys)
	}
}
