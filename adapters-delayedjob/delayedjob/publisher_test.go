package delayedjob

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// memory is a transaction that keeps what is written in it.
type memory struct{ records []outbox.Record }

type memoryWriter struct{}

func (memoryWriter) Insert(_ context.Context, tx *memory, records []outbox.Record) ([]outbox.ID, error) {
	if tx == nil {
		return nil, errors.New("no transaction")
	}
	ids := make([]outbox.ID, len(records))
	for i, r := range records {
		r.ID = outbox.ID(len(tx.records) + 1)
		tx.records = append(tx.records, r)
		ids[i] = r.ID
	}
	return ids, nil
}

func newPublisher(t *testing.T, o Overrides) *Publisher[*memory] {
	t.Helper()
	set := propagation.NewSet(nil, propagation.Standard()...)
	p, err := NewPublisher(outbox.NewPublisher(memoryWriter{}, outbox.Config{Propagation: set}), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// last returns what a relay would deliver for the newest record.
func (m *memory) last(t *testing.T) delivery.Envelope {
	t.Helper()
	e, _, err := delivery.EnvelopeOf(&m.records[len(m.records)-1])
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPublishWritesTheEntry(t *testing.T) {
	t.Parallel()
	p, tx := newPublisher(t, nil), &memory{}
	job := MustJob[invoice]("invoice.send", Defaults{Queue: "mail", Priority: 4, MaxAttempts: 7})
	at := time.Date(2040, 1, 2, 3, 4, 5, 600, time.UTC)

	id, err := Publish(t.Context(), p, tx, job, invoice{Order: 7})
	if err != nil || id != 1 {
		t.Fatalf("id %d, error %v", id, err)
	}
	e := tx.last(t)
	if e.DestinationType != destination.DelayedJob || e.Destination != "invoice.send" || e.AggregateID != "" {
		t.Errorf("entry goes to %s %q, aggregate %q", e.DestinationType, e.Destination, e.AggregateID)
	}
	if string(e.Payload) != `{"order":7}` || e.ContentType != outbox.JSONContentType {
		t.Errorf("payload is %s of %s", e.Payload, e.ContentType)
	}
	if got := string(e.Metadata.Delivery[DeliveryKey]); got != `{"queue":"mail","priority":4,"maxAttempts":7}` {
		t.Errorf("stored snapshot is %s", got)
	}
	if !e.ScheduledAt.IsZero() || e.MaxAttempts != outbox.DefaultMaxAttempts || len(e.Headers) != 0 {
		t.Errorf("scheduled %v, attempts %d, headers %v", e.ScheduledAt, e.MaxAttempts, e.Headers)
	}

	if _, err := Publish(t.Context(), p, tx, job, invoice{}, ScheduledAt(at)); err != nil {
		t.Fatal(err)
	}
	if got := tx.last(t).ScheduledAt; !got.Equal(at) {
		t.Errorf("scheduled at %v, want %v", got, at)
	}
}

func TestOverridesWinAndAreFixedAtWriteTime(t *testing.T) {
	t.Parallel()
	zero := 0
	overrides := Overrides{"a": {Queue: "other"}, "b": {Priority: &zero}, "c": {MaxAttempts: 9}, "nobody's": {MaxAttempts: 1}}
	p, tx := newPublisher(t, overrides), &memory{}
	zero = 55 // the publisher must have its own copy
	overrides["a"] = Override{Queue: "changed"}
	d := Defaults{Queue: "mail", Priority: 4, MaxAttempts: 7}
	for id, want := range map[string]Snapshot{
		"a": {"other", 4, 7}, "b": {"mail", 0, 7}, "c": {"mail", 4, 9}, "d": {"mail", 4, 7},
	} {
		if _, err := Publish(t.Context(), p, tx, MustJob[invoice](id, d), invoice{}); err != nil {
			t.Fatal(err)
		}
		if got, err := SnapshotOf(tx.last(t).Metadata); err != nil || got != want {
			t.Errorf("job %s: snapshot %+v (%v), want %+v", id, got, err, want)
		}
	}
}

func TestNewPublisherRefuses(t *testing.T) {
	t.Parallel()
	if _, err := NewPublisher[*memory](nil, nil); !fault.IsInvalid(err) {
		t.Errorf("a nil outbox publisher gives %v", err)
	}
	out := outbox.NewPublisher(memoryWriter{}, outbox.Config{})
	_, err := NewPublisher(out, Overrides{
		"a": {Queue: "{"}, "b": {Priority: new(1 << 40)}, "c": {MaxAttempts: -1}, " ": {},
	})
	wantText(t, err, `job "a": queue`, `job "b": priority`, `job "c": max attempts`, "override's job id is empty")
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	p := newPublisher(t, nil)
	for name, publish := range map[string]func(*memory) error{
		"zero job": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, Job[invoice]{}, invoice{})
			return err
		},
		"raw payload": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, MustJob[outbox.Raw]("a", Defaults{}), outbox.Raw{ContentType: "x/secret"})
			return err
		},
		"raw pointer": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, MustJob[any]("a", Defaults{}), any(&outbox.Raw{ContentType: "x/secret"}))
			return err
		},
		"unmarshallable payload": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, MustJob[chan int]("a", Defaults{}), make(chan int))
			return err
		},
		"nil payload": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, MustJob[*invoice]("a", Defaults{}), nil)
			return err
		},
		"year 10000": func(tx *memory) error {
			_, err := Publish(t.Context(), p, tx, MustJob[invoice]("a", Defaults{}), invoice{}, ScheduledAt(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			tx := &memory{}
			err := publish(tx)
			if !fault.IsInvalid(err) {
				t.Fatalf("error is %v, want *fault.Invalid", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error repeats a value: %v", err)
			}
			if len(tx.records) != 0 {
				t.Error("something was written")
			}
		})
	}
}

func TestPublishCapturesContext(t *testing.T) {
	t.Parallel()
	p, tx := newPublisher(t, nil), &memory{}
	ctx := propagation.With(t.Context(), propagation.Correlation, "c-1")
	if _, err := Publish(ctx, p, tx, MustJob[json.RawMessage]("a", Defaults{}), json.RawMessage(`[1]`)); err != nil {
		t.Fatal(err)
	}
	if got := string(tx.last(t).Metadata.Context[propagation.Correlation]); got != `"c-1"` {
		t.Errorf("stored correlation is %s", got)
	}
}
