package delayedjob

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

func TestDeliverEnqueuesWhatWasWritten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h, q := s.handler(t, func(c *Config) { c.Namespace = "billing" }, "invoice.send"), s.queue(t)
	e := envelope("invoice.send", Snapshot{q, 5, 7})
	e.Headers = map[string]string{"x-application": "stays home"}
	e.Metadata.Context = map[string]json.RawMessage{propagation.Correlation: json.RawMessage(`"c-1"`)}
	deliver(t, h, e)

	info := s.info(h, q+":high", e.MessageID)
	if info == nil {
		t.Fatal("no task under the id in the queue of the priority")
	}
	if info.ID != "billing:"+e.MessageID.String() || info.Type != "invoice.send" || string(info.Payload) != `{"order":7}` {
		t.Errorf("task is %s %s %s", info.ID, info.Type, info.Payload)
	}
	if info.MaxRetry != 6 || info.Timeout != 30*time.Minute || info.Retention != 24*time.Hour || !info.Deadline.IsZero() {
		t.Errorf("retries %d, timeout %v, retention %v, deadline %v", info.MaxRetry, info.Timeout, info.Retention, info.Deadline)
	}
	if info.State != asynq.TaskStatePending {
		t.Errorf("state is %s", info.State)
	}
	// Among the headers must be nothing of the application.
	if want := map[string]string{"satchel-correlation": "c-1", "satchel-message-id": e.MessageID.String()}; !maps.Equal(info.Headers, want) {
		t.Errorf("headers are %v, want %v", info.Headers, want)
	}
}

func TestDeliverUsesTheConfiguration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, bands := s.queue(t), Bands{{Min: 0, Suffix: ":low", Weight: 1}}
	h := s.handler(t, func(c *Config) {
		c.Timeout, c.Retention, c.ReservedPrefix = 1500*time.Millisecond, time.Hour+time.Millisecond, "job_"
		c.Bands = bands
	}, "a")
	bands[0].Suffix = ":high" // the handler must have its own copy
	e := envelope("a", Snapshot{q, 99, 1})
	deliver(t, h, e)
	info := s.info(h, q+":low", e.MessageID)
	if info == nil {
		t.Fatal("the configured bands were not used")
	}
	if info.Timeout != 2*time.Second || info.Retention != time.Hour+time.Second || info.MaxRetry != 0 {
		t.Errorf("timeout %v, retention %v, retries %d", info.Timeout, info.Retention, info.MaxRetry)
	}
	if info.Headers["job_message-id"] != e.MessageID.String() {
		t.Errorf("headers are %v", info.Headers)
	}
}

func TestUnknownJobIsUnresolvable(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	for _, id := range []string{"b", "", " ", "a ", "A", "\xff"} {
		err := h.Deliver(t.Context(), envelope(id, Snapshot{"q", 0, 1}))
		wantVerdict(t, err, delivery.VerdictUnresolvable)
		if !errors.Is(err, ErrUnknownJob) {
			t.Errorf("error is %v, want ErrUnknownJob", err)
		}
	}
	// Another node may know what to make of an entry that is malformed to this one.
	err := h.Deliver(t.Context(), delivery.Envelope{Destination: "b"})
	wantVerdict(t, err, delivery.VerdictUnresolvable)
	if keys := s.mini.Keys(); len(keys) != 0 {
		t.Errorf("redis holds %v", keys)
	}
}

// A contract or an override that changes between the write and the relay changes
// nothing: the whole way from Publish to Redis.
func TestLaterContractChangesDoNotMatter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h, q, tx := s.handler(t, nil, "a"), s.queue(t), &memory{}
	if _, err := Publish(t.Context(), newPublisher(t, nil), tx, MustJob[invoice]("a", Defaults{Queue: q, Priority: -1, MaxAttempts: 3}), invoice{1}); err != nil {
		t.Fatal(err)
	}
	changed := newPublisher(t, Overrides{"a": {MaxAttempts: 50, Priority: new(9)}})
	if _, err := Publish(t.Context(), changed, tx, MustJob[invoice]("a", Defaults{Queue: q}), invoice{2}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		queue   string
		retries int
	}{{q + ":low", 2}, {q + ":high", 49}} {
		e, _, err := delivery.EnvelopeOf(&tx.records[i])
		if err != nil {
			t.Fatal(err)
		}
		deliver(t, h, e)
		if info := s.info(h, want.queue, e.MessageID); info == nil || info.MaxRetry != want.retries {
			t.Errorf("entry %d became %+v, want %+v", i, info, want)
		}
	}
}

func TestScheduledTimes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	h, q := s.handler(t, nil, "a"), s.queue(t)
	soon := time.Now().Add(time.Hour).Truncate(time.Second).Add(1)
	for name, c := range map[string]struct {
		at   time.Time
		next time.Time // zero: pending at once
	}{
		"none":      {},
		"past":      {at: time.Now().Add(-time.Millisecond)},
		"long past": {at: time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)},
		"fraction":  {at: soon, next: soon.Truncate(time.Second).Add(time.Second)},
		"year 9999": {at: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), next: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
	} {
		e := envelope("a", Snapshot{q, 0, 1})
		e.ScheduledAt = c.at
		deliver(t, h, e)
		info := s.info(h, q, e.MessageID)
		switch {
		case info == nil:
			t.Errorf("%s: no task", name)
		case c.next.IsZero() && info.State != asynq.TaskStatePending:
			t.Errorf("%s: state is %s, want pending", name, info.State)
		case !c.next.IsZero() && (info.State != asynq.TaskStateScheduled || !info.NextProcessAt.Equal(c.next)):
			t.Errorf("%s: %s at %v, want scheduled at %v", name, info.State, info.NextProcessAt, c.next)
		}
	}
}

// Two services with copies of one database must not take each other's tasks for
// their own.
func TestNamespacesDoNotCollide(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.queue(t)
	e := envelope("a", Snapshot{q, 0, 1})
	for _, namespace := range []string{"", "one", "two"} {
		h := s.handler(t, func(c *Config) { c.Namespace = namespace }, "a")
		deliver(t, h, e)
		deliver(t, h, e)
	}
	if info, err := s.inspector().GetQueueInfo(q); err != nil || info.Size != 3 {
		t.Errorf("queue holds %+v (%v), want 3 tasks", info, err)
	}
}

func TestDeliverLeavesTheEnvelopeAlone(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	e := envelope("a", Snapshot{"q", 0, 1})
	e.Headers = map[string]string{"k": "v"}
	e.Metadata.Context = map[string]json.RawMessage{"locale": json.RawMessage(`"de"`)}
	before, _ := json.Marshal(e)
	deliver(t, h, e)
	if after, _ := json.Marshal(e); string(after) != string(before) {
		t.Errorf("envelope was %s, is %s", before, after)
	}
}

func TestCancelledContextIsRetryable(t *testing.T) {
	t.Parallel()
	s := newMini(t)
	h := s.handler(t, nil, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range []delivery.Envelope{envelope("a", Snapshot{"q", 0, 1}), envelope("b", Snapshot{"q", 0, 1}), {MessageID: outbox.NewMessageID()}} {
		err := h.Deliver(ctx, e)
		wantVerdict(t, err, delivery.VerdictRetryable)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
}
