package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// writer is an outbox.Writer that keeps what it is given. Its transaction is a text.
type writer struct {
	records []outbox.Record
	calls   int
	err     error
	short   bool // return one id too few
}

func (w *writer) Insert(_ context.Context, tx string, records []outbox.Record) ([]outbox.ID, error) {
	w.calls++
	if w.err != nil {
		return nil, w.err
	}
	w.records = append(w.records, records...)
	ids := make([]outbox.ID, len(records))
	for i := range ids {
		ids[i] = outbox.ID(len(tx) + i)
	}
	if w.short {
		ids = ids[1:]
	}
	return ids, nil
}

// valid returns the smallest valid entry.
func valid() outbox.Entry {
	return outbox.Entry{DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed", Payload: json.RawMessage(`{}`)}
}

// published runs one entry through a publisher and returns the record.
func published(t *testing.T, cfg outbox.Config, change func(e *outbox.Entry)) (outbox.Record, error) {
	t.Helper()
	w := &writer{}
	e := valid()
	change(&e)
	_, err := outbox.NewPublisher[string](w, cfg).Publish(t.Context(), "tx", e)
	if err != nil {
		if w.calls > 0 {
			t.Error("a refused entry reached the writer")
		}
		return outbox.Record{}, err
	}
	return w.records[0], nil
}

// refusal is what a test wants of an entry: the field and the reason, or "" for none.
func refusal(t *testing.T, what string, err error, field, reason string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	var refused *fault.Invalid
	if !errors.As(err, &refused) || refused.Field != field || !strings.Contains(refused.Reason, reason) {
		t.Errorf("%s: %v, want that %s %s", what, err, field, reason)
	}
}

func TestEntryTexts(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("\U0001F600", 255)
	fields := []struct {
		name     string
		required bool
		set      func(e *outbox.Entry, s string)
	}{
		{"destination", true, func(e *outbox.Entry, s string) { e.Destination = s }},
		{"event type", true, func(e *outbox.Entry, s string) { e.EventType = s }},
		{"aggregate id", false, func(e *outbox.Entry, s string) { e.AggregateID = s }},
		{"aggregate type", false, func(e *outbox.Entry, s string) { e.AggregateType = s }},
	}
	for _, c := range []struct{ value, reason string }{
		{"a", ""},
		{" a ", ""},
		{"a\nb", ""},
		{wide, ""},
		{strings.Repeat("x", 255), ""},
		{wide + "x", "is longer than 255 characters"},
		{strings.Repeat("x", 256), "is longer than 255 characters"},
		{" ", "is blank"},
		{"\t\u00a0\n", "is blank"},
		{"\xff", "is not valid UTF-8"},
		{"a\xe2\x28", "is not valid UTF-8"},
		{"a\x00", "has the character U+0000"},
	} {
		for _, f := range fields {
			_, err := published(t, outbox.Config{}, func(e *outbox.Entry) { f.set(e, c.value) })
			field := f.name
			if c.reason == "" {
				field = ""
			}
			refusal(t, f.name+" "+c.value[:1], err, field, c.reason)
		}
	}
	for _, f := range fields {
		_, err := published(t, outbox.Config{}, func(e *outbox.Entry) { f.set(e, "") })
		if f.required {
			refusal(t, "empty", err, f.name, "is empty")
		} else {
			refusal(t, "empty", err, "", "")
		}
	}
	_, err := published(t, outbox.Config{}, func(e *outbox.Entry) { e.DestinationType = "no good" })
	refusal(t, "type", err, "destination type", "has a character")
}

func TestEntryTimes(t *testing.T) {
	t.Parallel()
	first := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for _, c := range []struct {
		at time.Time
		ok bool
	}{
		{time.Time{}, true},
		{first, true},
		{last, true},
		{time.Now(), true},
		{first.In(time.FixedZone("", 3600)), true},
		{first.Add(-1), false},
		{last.Add(1), false},
		{time.Time{}.Add(1), false},
		{time.Unix(math.MaxInt64/2, 0), false},
	} {
		for name, set := range map[string]func(e *outbox.Entry){
			"scheduled time": func(e *outbox.Entry) { e.ScheduledAt = c.at },
			"available time": func(e *outbox.Entry) { e.AvailableAt = c.at },
		} {
			r, err := published(t, outbox.Config{}, set)
			if !c.ok {
				refusal(t, name, err, name, "lies outside")
				continue
			}
			refusal(t, name, err, "", "")
			if !r.ScheduledAt.Equal(c.at) && !r.AvailableAt.Equal(c.at) {
				t.Errorf("%s %v became %v, %v", name, c.at, r.ScheduledAt, r.AvailableAt)
			}
		}
	}
}

func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config, entry, want int
	}{
		{0, 0, outbox.DefaultMaxAttempts},
		{0, 1, 1},
		{math.MaxInt32, 0, math.MaxInt32},
		{0, math.MaxInt32, math.MaxInt32},
		{3, 0, 3},
		{3, 5, 5},
		{0, -1, 0},
		{0, math.MaxInt32 + 1, 0},
		{3, math.MinInt, 0},
	} {
		r, err := published(t, outbox.Config{MaxAttempts: c.config}, func(e *outbox.Entry) { e.MaxAttempts = c.entry })
		if c.want == 0 {
			refusal(t, "max attempts", err, "max attempts", "is negative or larger")
		} else if err != nil || r.MaxAttempts != c.want {
			t.Errorf("config %d, entry %d: %d, %v; want %d", c.config, c.entry, r.MaxAttempts, err, c.want)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	for _, c := range []struct{ available, scheduled, want time.Time }{
		{early, time.Time{}, early}, {early, late, late}, {late, early, late}, {late, late, late}, {early, time.Unix(100, 1), time.Unix(100, 1)},
	} {
		r := outbox.Record{AvailableAt: c.available, ScheduledAt: c.scheduled}
		if got := r.Due(); !got.Equal(c.want) {
			t.Errorf("available %v, scheduled %v: due %v", c.available, c.scheduled, got)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	all := []outbox.State{outbox.Pending, outbox.Processing, outbox.Published, outbox.DeadLetter, "", "pending", "OTHER"}
	legal := map[[2]outbox.State]bool{
		{outbox.Pending, outbox.Processing}:    true,
		{outbox.Processing, outbox.Pending}:    true,
		{outbox.Processing, outbox.Published}:  true,
		{outbox.Processing, outbox.DeadLetter}: true,
		{outbox.DeadLetter, outbox.Pending}:    true,
	}
	for i, from := range all {
		for _, to := range all {
			if got := from.CanBecome(to); got != legal[[2]outbox.State{from, to}] {
				t.Errorf("from %q to %q: %v", from, to, got)
			}
		}
		if from.Valid() != (i < 4) || from.Settled() != (i == 2 || i == 3) {
			t.Errorf("%q: valid %v, settled %v", from, from.Valid(), from.Settled())
		}
	}
}
