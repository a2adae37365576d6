package relay_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// TestCycle follows one entry of each verdict through claim, delivery and settlement.
func TestCycle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		verdicts := []error{
			nil, errors.New("broken"), delivery.Permanent(errors.New("refused")), delivery.Unresolvable(errors.New("unknown")),
		}
		h := handler(t, func(_ context.Context, e delivery.Envelope, nth int) error {
			if nth > 1 {
				return nil
			}
			return verdicts[e.ID-1]
		})
		var seen attempts
		all := entries(4, unordered)
		all[1].MaxAttempts = 2
		ids := publish(t, s, all...)
		x := start(t, s, relay.Config{Observers: []relay.Observer{&seen}, BackoffBase: time.Minute, UnresolvableDelay: 10 * time.Minute}, h)
		time.Sleep(time.Second)
		wantStates(t, s, ids, outbox.Published, outbox.Pending, outbox.DeadLetter, outbox.Pending)
		for id, want := range map[outbox.ID]struct {
			attempt int
			err     string
		}{1: {0, ""}, 2: {1, "broken"}, 3: {1, "refused"}, 4: {0, "unknown"}} {
			if r := rows(s)[id]; r.Attempt != want.attempt || r.LastError != want.err {
				t.Errorf("entry %d has attempt %d and error %q, want %d and %q", id, r.Attempt, r.LastError, want.attempt, want.err)
			}
		}
		want := map[outbox.ID]struct {
			verdict delivery.Verdict
			kind    relay.OutcomeKind
			delayed bool
		}{
			1: {delivery.VerdictDelivered, relay.Published, false}, 2: {delivery.VerdictRetryable, relay.Retried, true},
			3: {delivery.VerdictPermanent, relay.DeadLettered, false}, 4: {delivery.VerdictUnresolvable, relay.Deferred, true},
		}
		for _, a := range seen.all() {
			w := want[a.Envelope.ID]
			if a.Verdict != w.verdict || a.Disposition != w.kind || (a.Delay > 0) != w.delayed || !a.Recorded || !errors.Is(a.Err, verdicts[a.Envelope.ID-1]) {
				t.Errorf("entry %d: observers were told %+v", a.Envelope.ID, a)
			}
			delete(want, a.Envelope.ID)
		}
		if len(want) > 0 {
			t.Errorf("observers were not told of %v", want)
		}
		until(t, "the end", settled(s))
		x.end()
		if got := len(seen.all()); got != 6 {
			t.Errorf("observers were told %d times, want once for each of 6 attempts", got)
		}
	})
}

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }
func (e *nilError) Unwrap() error { return errors.New(e.text) }

// errSlice cannot be compared, which errors.Is must survive.
type errSlice []string

func (errSlice) Error() string { return "uncomparable" }

// TestFailingHandlers: however a handler fails, it costs that entry one attempt and
// nothing else.
func TestFailingHandlers(t *testing.T) {
	t.Parallel()
	for kind, fail := range map[string]func(ctx context.Context) error{
		"error":          func(context.Context) error { return errors.New("no") },
		"typed nil":      func(context.Context) error { return (*nilError)(nil) },
		"uncomparable":   func(context.Context) error { return errSlice{"x"} },
		"invalid text":   func(context.Context) error { return errors.New("\xff\x00" + strings.Repeat("x", 10_000)) },
		"panic":          func(context.Context) error { panic("secret") },
		"panic error":    func(context.Context) error { panic(errors.New("secret")) },
		"panic nil":      func(context.Context) error { panic(nil) },
		"panic type":     func(context.Context) error { panic(struct{ field string }{"secret"}) },
		"runtime error":  func(context.Context) error { var none []error; return none[runtime.NumCPU()] },
		"goexit":         func(context.Context) error { runtime.Goexit(); return nil },
		"time-out":       func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"never returns":  func(context.Context) error { time.Sleep(30 * time.Minute); return nil },
		"retry after":    func(context.Context) error { return delivery.RetryAfter(errors.New("busy"), time.Millisecond) },
		"retry negative": func(context.Context) error { return delivery.RetryAfter(nil, -time.Hour) },
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				h := handler(t, func(ctx context.Context, e delivery.Envelope, nth int) error {
					if e.ID == 3 && nth == 1 {
						return fail(ctx)
					}
					return nil
				})
				var seen attempts
				logger, logged := logs()
				publish(t, s, entries(6, unordered)...)
				x := start(t, s, relay.Config{
					Observers: []relay.Observer{&seen}, Logger: logger, BatchSize: 3, DeliveryTimeout: time.Second,
				}, h)
				until(t, "the failure", func() bool { return rows(s)[3].Attempt == 1 })
				if r := rows(s)[3]; r.State != outbox.Pending || r.LastError == "" || r.ErrorType == "" {
					t.Errorf("after the failure the entry is %s with error %q of type %q", r.State, r.LastError, r.ErrorType)
				}
				if got := count(s, outbox.Published); got != 5 {
					t.Errorf("%d of the 5 other entries are published", got)
				}
				late := publish(t, s, entryOf(""))
				until(t, "the end", settled(s))
				time.Sleep(time.Hour) // for the handler that took its time
				x.end()
				if got := len(h.of(late[0])); got != 1 {
					t.Errorf("%d calls for a later entry", got)
				}
				if got := len(seen.all()); got != 8 {
					t.Errorf("observers were told of %d attempts, want 8", got)
				}
				if text := logged() + rows(s)[3].LastError; strings.Contains(text, "secret") {
					t.Errorf("a panic's value is in the log or the row: %s", text)
				}
			})
		})
	}
}

// TestMessageIDIsTheSameOnEveryAttempt also checks the attempt's number.
func TestMessageIDIsTheSameOnEveryAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		h := handler(t, func(_ context.Context, _ delivery.Envelope, nth int) error {
			if nth < 4 {
				return errors.New("no")
			}
			return nil
		})
		publish(t, s, entryOf(""))
		x := start(t, s, relay.Config{}, h)
		until(t, "the end", settled(s))
		x.end()
		for i, c := range h.seen() {
			if c.Message != h.seen()[0].Message || c.Attempt != i+1 {
				t.Errorf("call %d has message id %v and attempt %d", i+1, c.Message, c.Attempt)
			}
		}
	})
}

// TestUnreadableRow: a row that no version of this library writes is a failed attempt.
func TestUnreadableRow(t *testing.T) {
	t.Parallel()
	for part, r := range map[string]outbox.Record{
		"headers":         {Headers: []byte(`{"a":1}`)},
		"headers list":    {Headers: []byte(`[]`)},
		"metadata":        {Metadata: []byte(`{"context":[]}`)},
		"broken metadata": {Metadata: []byte(`{"context":`)},
	} {
		t.Run(part, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := memstore.New(memstore.Config{})
				h := handler(t, nil)
				good := publish(t, s, entryOf(""))
				r.DestinationType, r.Destination, r.EventType, r.MaxAttempts = "T", "d", "e", 2
				id := insert(t, s, r)
				var seen attempts
				x := start(t, s, relay.Config{Observers: []relay.Observer{&seen}}, h)
				until(t, "the end", settled(s))
				x.end()
				wantStates(t, s, []outbox.ID{id, good[0]}, outbox.DeadLetter, outbox.Published)
				wantOrder(t, h, good...)
				if row := rows(s)[id]; row.Attempt != 2 || !strings.Contains(row.LastError, "stored") {
					t.Errorf("the row has attempt %d and error %q", row.Attempt, row.LastError)
				}
				if len(seen.all()) != 3 {
					t.Errorf("observers were told of %d attempts, want 3", len(seen.all()))
				}
			})
		})
	}
}

// insert writes a record past the publisher's checks.
func insert(t testing.TB, s *memstore.Store, r outbox.Record) outbox.ID {
	t.Helper()
	tx := s.Begin()
	ids, err := s.Insert(context.Background(), tx, []outbox.Record{r})
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ids[0]
}

// TestNullHeader: the header is left out with one warning, the rest delivered.
func TestNullHeader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := memstore.New(memstore.Config{})
		var got atomic.Value
		h := handler(t, func(_ context.Context, e delivery.Envelope, _ int) error { got.Store(e.Headers); return nil })
		insert(t, s, outbox.Record{
			DestinationType: "T", Destination: "d", EventType: "e", MaxAttempts: 3,
			Headers: []byte(`{"kept":"secret","gone\n":null}`),
		})
		logger, logged := logs()
		x := start(t, s, relay.Config{Logger: logger}, h)
		until(t, "the end", settled(s))
		x.end()
		if headers := got.Load().(map[string]string); len(headers) != 1 || headers["kept"] != "secret" {
			t.Errorf("delivered headers %v", headers)
		}
		if text := logged(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "header=gone_") || strings.Contains(text, "secret") {
			t.Errorf("the log is %s", text)
		}
	})
}
