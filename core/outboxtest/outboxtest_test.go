package outboxtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// collector keeps what a test would report.
type collector struct {
	testing.TB
	lines []string
}

func (c *collector) Helper() {}
func (c *collector) Errorf(format string, args ...any) {
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

func TestExpect(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 1, 12, 0, 0, 123456789, time.UTC)
	e := outbox.Entry{
		DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed",
		AggregateID: "order-42", AggregateType: "Order", Payload: json.RawMessage(`{"id":9007199254740993,"total":1e2,"tags":["a",null]}`),
		Headers:  map[string]string{"tenant": "acme", "region": "eu"},
		Delivery: map[string]json.RawMessage{"job": json.RawMessage(`{"queue":"mail"}`)}, ScheduledAt: at, MaxAttempts: 7,
	}
	rawEntry := e
	rawEntry.Payload = outbox.Raw{ContentType: "text/plain", Data: []byte("hi")}
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	if _, err := memstore.NewPublisher(store, outbox.Config{}).PublishAll(t.Context(), tx, e, rawEntry); err != nil {
		t.Fatal(err)
	}
	got := outboxtest.Added(t, outboxtest.Memory(store), func() { _ = tx.Commit() })
	for _, c := range []struct {
		name   string
		index  int
		want   outbox.Entry
		errors []string // parts of them, in order
	}{
		{"itself", 0, e, nil},
		{"raw itself", 1, rawEntry, nil},
		{"nothing in particular", 0, outbox.Entry{}, nil},
		{"members in another order, other notation", 0, outbox.Entry{Payload: json.RawMessage(`{"tags":["a",null],"total":100.0,"id":9007199254740993}`)}, nil},
		{"some headers", 0, outbox.Entry{Headers: map[string]string{"tenant": "acme"}}, nil},
		{"a neighbouring id", 0, outbox.Entry{Payload: json.RawMessage(`{"id":9007199254740992,"total":100,"tags":["a",null]}`)}, []string{"payload is"}},
		{"every text", 0, outbox.Entry{DestinationType: "HTTP", Destination: "x", EventType: "x", AggregateID: "x", AggregateType: "x"}, []string{
			`destination type is "KAFKA", want "HTTP"`, `destination is "orders"`, `event type is`, `aggregate id is`, `aggregate type is`,
		}},
		{"times and numbers", 0, outbox.Entry{ScheduledAt: at.Add(time.Microsecond), MaxAttempts: 6}, []string{"scheduled time is", "max attempts is 7, want 6"}},
		{"the same microsecond", 0, outbox.Entry{ScheduledAt: at.Round(time.Microsecond)}, nil},
		{"another header value", 0, outbox.Entry{Headers: map[string]string{"tenant": "other"}}, []string{`header "tenant" is "acme" (there: true), want "other"`}},
		{"a missing header", 0, outbox.Entry{Headers: map[string]string{"trace": ""}}, []string{`header "trace" is "" (there: false)`}},
		{"other control data", 0, outbox.Entry{Delivery: map[string]json.RawMessage{"job": json.RawMessage(`{}`)}}, []string{`delivery data "job"`}},
		{"raw for JSON", 0, rawEntry, []string{`of type "text/plain"`}},
		{"JSON for raw", 1, e, []string{"payload is raw, of type text/plain, want JSON"}},
		{"other bytes", 1, outbox.Entry{Payload: &outbox.Raw{ContentType: "text/plain", Data: []byte("ho")}}, []string{`payload is "hi"`}},
		{"what no publisher takes", 0, outbox.Entry{Payload: func() {}}, []string{"does not marshal"}},
	} {
		var r collector
		outboxtest.Expect(&r, got[c.index:c.index+1], c.want)
		ok := len(r.lines) == len(c.errors)
		for i := range min(len(r.lines), len(c.errors)) {
			ok = ok && strings.Contains(r.lines[i], c.errors[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, r.lines, c.errors)
		}
	}
	var r collector
	outboxtest.Expect(&r, got, e)
	outboxtest.Expect(&r, nil, e)
	if len(r.lines) != 2 || !strings.Contains(r.lines[0], "2 entries were published, want 1: order.confirmed to KAFKA") || !strings.Contains(r.lines[1], "want 1: none") {
		t.Errorf("%q", r.lines)
	}
}

func TestTap(t *testing.T) {
	t.Parallel()
	store := memstore.New(memstore.Config{FirstID: 7})
	tap := outboxtest.NewTap[*memstore.Tx](store)
	publisher := outbox.NewPublisher(tap, outbox.Config{})
	e := outbox.Entry{DestinationType: "X", Destination: "d", EventType: "e", Payload: 1}
	one, two := store.Begin(), store.Begin()
	for _, tx := range []*memstore.Tx{one, two, one} {
		if _, err := publisher.Publish(t.Context(), tx, e); err != nil {
			t.Fatal(err)
		}
	}
	_ = two.Rollback()
	if _, err := publisher.Publish(t.Context(), two, e); err == nil {
		t.Error("published in a transaction that has ended")
	}
	if a, b := tap.In(one), tap.In(two); len(a) != 2 || a[0].ID != 7 || a[1].ID != 9 || len(b) != 1 || len(tap.In(nil)) != 0 {
		t.Errorf("in the first %v, in the second %v", a, b)
	}
}

func TestAddedFailsWithItsSource(t *testing.T) {
	t.Parallel()
	defer func() {
		if s, ok := recover().(stopped); !ok || !strings.Contains(s.text, "no table") {
			t.Errorf("%v", s)
		}
	}()
	outboxtest.Added(&reporter{TB: t}, outboxtest.SourceFunc(func(context.Context) ([]outbox.Record, error) {
		return nil, errors.New("no table")
	}), func() { t.Error("the function ran") })
}

// publish commits one entry for each destination, in one aggregate each.
func publish(t *testing.T, store *memstore.Store, destinations ...string) {
	t.Helper()
	tx := store.Begin()
	for _, d := range destinations {
		_, err := memstore.NewPublisher(store, outbox.Config{}).Publish(t.Context(), tx, outbox.Entry{
			DestinationType: "X", Destination: d, EventType: "e", AggregateID: d, Payload: d,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func states(store *memstore.Store) (out []outbox.State) {
	for _, r := range store.Rows() {
		out = append(out, r.State)
	}
	return out
}

func TestDrain(t *testing.T) {
	t.Parallel()
	failure := errors.New("failure")
	for _, c := range []struct {
		name      string
		script    []outboxtest.Fault
		verdicts  string
		state     outbox.State
		delivered int
	}{
		{"no fault", nil, "delivered", outbox.Published, 1},
		{"a pass", []outboxtest.Fault{outboxtest.Pass(), outboxtest.Fail(failure)}, "delivered", outbox.Published, 1},
		{"a failure", []outboxtest.Fault{outboxtest.Fail(failure)}, "retryable delivered", outbox.Published, 1},
		{"a panic", []outboxtest.Fault{outboxtest.Panic("oops")}, "retryable delivered", outbox.Published, 1},
		{"a lost acknowledgement", []outboxtest.Fault{outboxtest.FailAfter(failure)}, "retryable delivered", outbox.Published, 2},
		{"permanent", []outboxtest.Fault{outboxtest.Fail(delivery.Permanent(failure))}, "permanent", outbox.DeadLetter, 0},
		{"unresolvable", []outboxtest.Fault{outboxtest.Fail(delivery.Unresolvable(failure))}, "unresolvable", outbox.Pending, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New(memstore.Config{})
			publish(t, store, "d")
			recorder := outboxtest.NewRecorder("X")
			faulty := outboxtest.NewFaulty(recorder, c.script...)
			var verdicts []string
			all := outboxtest.Drain(t, store, faulty)
			for _, a := range all {
				verdicts = append(verdicts, a.Verdict.String())
			}
			if got := strings.Join(verdicts, " "); got != c.verdicts || states(store)[0] != c.state || len(recorder.Delivered()) != c.delivered {
				t.Errorf("%s, %v, delivered %d times", got, states(store), len(recorder.Delivered()))
			}
			if n := faulty.Attempts(all[0].Envelope.MessageID); n != len(all) {
				t.Errorf("%d attempts, observed %d", n, len(all))
			}
		})
	}
}

// A handler that always fails uses up the attempts; what is not served stays.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	store := memstore.New(memstore.Config{})
	publish(t, store, "served", "elsewhere")
	script := make([]outboxtest.Fault, outbox.DefaultMaxAttempts)
	for i := range script {
		script[i] = outboxtest.Fail(errors.New("never"))
	}
	all := outboxtest.Drain(t, store, outboxtest.NewFaulty(outboxtest.NewRecorder("X", "served"), script...))
	if got := states(store); len(all) != outbox.DefaultMaxAttempts || got[0] != outbox.DeadLetter || got[1] != outbox.Pending {
		t.Errorf("%d attempts, %v", len(all), got)
	}
	defer func() {
		if s, ok := recover().(stopped); !ok || !strings.Contains(s.text, "two handlers") {
			t.Errorf("%v", s)
		}
	}()
	outboxtest.Drain(&reporter{TB: t}, store, outboxtest.NewRecorder("X"), outboxtest.NewRecorder("X"))
}

// Hang ends with its attempt's time, here in virtual time.
func TestHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New(memstore.Config{})
		publish(t, store, "d")
		recorder := outboxtest.NewRecorder("X")
		node, err := relay.New(store, []delivery.Handler{outboxtest.NewFaulty(recorder, outboxtest.Hang())}, relay.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- node.Run(ctx) }()
		got, err := recorder.Wait(t.Context(), 1)
		if err != nil || got[0].Attempt != 2 {
			t.Errorf("%v, %v", got, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	r := outboxtest.NewRecorder("X", "a", "b")
	e := delivery.Envelope{Destination: "a", Payload: []byte("{}"), Headers: map[string]string{"k": "v"}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Deliver(ended, e); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	if err := r.Deliver(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	e.Payload[0], e.Headers["k"] = 'X', "X"
	if got := r.Delivered(); len(got) != 1 || string(got[0].Payload) != "{}" || got[0].Headers["k"] != "v" {
		t.Errorf("%+v", got)
	}
	if got, err := r.Wait(ended, 2); len(got) != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}
