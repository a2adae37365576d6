package service_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/propagation"

	"github.com/satchel-go/satchel/adapters-service/service"
)

var errBusy = errors.New("busy")

func TestOutcomeIsTheFunctionsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		err     error
		verdict delivery.Verdict
	}{
		{"nil", nil, delivery.VerdictDelivered},
		{"plain", errBusy, delivery.VerdictRetryable},
		{"permanent", delivery.Permanent(errBusy), delivery.VerdictPermanent},
		{"unresolvable", delivery.Unresolvable(errBusy), delivery.VerdictUnresolvable},
		{"unavailable", delivery.Unavailable(errBusy), delivery.VerdictUnavailable},
		{"own deadline", context.DeadlineExceeded, delivery.VerdictRetryable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reg := service.NewRegistry()
			must(t, service.Handle(reg, service.MustOperation[order]("a"), func(context.Context, order) error { return c.err }, service.HandlerOptions{Timeout: time.Hour}))
			err := handlerOf(t, reg, service.Config{}).Deliver(t.Context(), envelope("a", `{}`))
			if !errors.Is(err, c.err) || delivery.VerdictOf(err) != c.verdict {
				t.Fatalf("got %v (%s), want %v (%s)", err, delivery.VerdictOf(err), c.err, c.verdict)
			}
		})
	}
}

func TestUnknownAndPausedTargetsAreUnresolvable(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), chargeCard, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})
	for target, want := range map[string]error{"b": service.ErrUnknownTarget, "": service.ErrUnknownTarget, "a": service.ErrPaused} {
		reg.Pause("a")
		err := h.Deliver(t.Context(), envelope(target, `{}`))
		if !errors.Is(err, want) || delivery.VerdictOf(err) != delivery.VerdictUnresolvable {
			t.Errorf("target %q: got %v", target, err)
		}
	}
}

func TestPanicIsARetryableErrorOfTheRelay(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), func(context.Context, order) error { panic("no") }, service.HandlerOptions{}))
	err := delivery.Attempt(t.Context(), handlerOf(t, reg, service.Config{}), envelope("a", `{}`))
	var panicked *delivery.PanicError
	if !errors.As(err, &panicked) || delivery.VerdictOf(err) != delivery.VerdictRetryable {
		t.Fatalf("got %v", err)
	}
}

func TestTimeoutEndsTheContextAndIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := service.NewRegistry()
		wait := func(ctx context.Context, _ order) error { <-ctx.Done(); return ctx.Err() }
		must(t, service.Handle(reg, service.MustOperation[order]("slow"), wait, service.HandlerOptions{Timeout: 3 * time.Second}))
		must(t, service.Handle(reg, service.MustOperation[order]("patient"), wait, service.HandlerOptions{}))
		h := handlerOf(t, reg, service.Config{})

		start := time.Now()
		err := h.Deliver(t.Context(), envelope("slow", `{}`))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("ended after %s, want 3s", took)
		}
		if !errors.Is(err, service.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `"slow"`) {
			t.Errorf("got %v, want the timeout of the operation", err)
		}
		if v := delivery.VerdictOf(err); v != delivery.VerdictRetryable {
			t.Errorf("verdict %s", v)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		for _, target := range []string{"slow", "patient"} {
			err = h.Deliver(ctx, envelope(target, `{}`))
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrTimeout) {
				t.Errorf("%s: got %v, want the relay's own timeout", target, err)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the relay's timeout took %s, want 1s", took)
		}
	})
}

func TestVerdictSurvivesTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := service.NewRegistry()
		must(t, service.Handle(reg, service.MustOperation[order]("late"), func(ctx context.Context, _ order) error {
			<-ctx.Done()
			return nil // the work was done all the same
		}, service.HandlerOptions{Timeout: time.Second}))
		must(t, service.Handle(reg, service.MustOperation[order]("refusing"), func(ctx context.Context, _ order) error {
			<-ctx.Done()
			return delivery.Permanent(ctx.Err())
		}, service.HandlerOptions{Timeout: time.Second}))
		h := handlerOf(t, reg, service.Config{})
		must(t, h.Deliver(t.Context(), envelope("late", `{}`)))
		if v := delivery.VerdictOf(h.Deliver(t.Context(), envelope("refusing", `{}`))); v != delivery.VerdictPermanent {
			t.Errorf("verdict %s, want permanent", v)
		}
	})
}

func TestEndedContextStartsNothing(t *testing.T) {
	t.Parallel()
	ran := false
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), func(context.Context, order) error { ran = true; return nil }, service.HandlerOptions{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := handlerOf(t, reg, service.Config{}).Deliver(ctx, envelope("a", `{}`)); !errors.Is(err, context.Canceled) || ran {
		t.Fatalf("error %v, called: %v", err, ran)
	}
}

func TestMessageDescribesTheEntry(t *testing.T) {
	t.Parallel()
	e := envelope("a.old", `{"id":"7"}`)
	e.EventType, e.AggregateType, e.AggregateID = "order.placed", "Order", "order-7"
	e.Attempt, e.MaxAttempts, e.Headers = 2, 5, map[string]string{"region": "eu"}
	e.ScheduledAt = e.CreatedAt.Add(time.Minute)

	var got service.Message
	var locale string
	reg := service.NewRegistry()
	op := service.Alias(service.MustOperation[order]("a"), "a.old")
	must(t, service.Handle(reg, op, func(ctx context.Context, o order) error {
		var ok bool
		if got, ok = service.MessageFrom(ctx); !ok || o.ID != "7" {
			return errBusy
		}
		locale = propagation.From(ctx, propagation.Locale)
		got.Headers["region"] = "changed" // must not reach the relay's map
		return nil
	}, service.HandlerOptions{}))
	ctx := propagation.With(t.Context(), propagation.Locale, "de-CH") // as the relay restores it
	must(t, handlerOf(t, reg, service.Config{}).Deliver(ctx, e))

	if got.ID != e.MessageID || got.Operation != "a" || got.Target != "a.old" || got.EventType != "order.placed" ||
		got.AggregateType != "Order" || got.AggregateID != "order-7" || got.Attempt != 2 || got.MaxAttempts != 5 ||
		!got.CreatedAt.Equal(e.CreatedAt) || !got.ScheduledAt.Equal(e.ScheduledAt) {
		t.Errorf("unexpected message %+v", got)
	}
	if locale != "de-CH" {
		t.Errorf("propagated context was lost: %q", locale)
	}
	if !maps.Equal(e.Headers, map[string]string{"region": "eu"}) {
		t.Errorf("the envelope was changed: %v", e.Headers)
	}
	if _, ok := service.MessageFrom(t.Context()); ok {
		t.Error("a message outside of a handler")
	}
}

func TestMiddlewareSurroundsInOrder(t *testing.T) {
	t.Parallel()
	var trace []string
	named := func(name string) service.Middleware {
		return func(ctx context.Context, m service.Message, next func(context.Context) error) error {
			trace = append(trace, name+" "+m.Operation)
			err := next(context.WithValue(ctx, errBusy, name))
			trace = append(trace, name+" done")
			return err
		}
	}
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), func(ctx context.Context, _ order) error {
		trace = append(trace, "function in "+ctx.Value(errBusy).(string))
		return nil
	}, service.HandlerOptions{}))
	chain := []service.Middleware{named("outer"), named("inner")}
	h := handlerOf(t, reg, service.Config{Middleware: chain})
	chain[0] = nil // the handler has its own list
	must(t, h.Deliver(t.Context(), envelope("a", `{}`)))
	want := []string{"outer a", "inner a", "function in inner", "inner done", "outer done"}
	if !slices.Equal(trace, want) {
		t.Fatalf("got %q, want %q", trace, want)
	}
}

func TestMiddlewareDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	skip := func(context.Context, service.Message, func(context.Context) error) error { return nil }
	judge := func(ctx context.Context, _ service.Message, next func(context.Context) error) error {
		var decoding *service.DecodeError
		if err := next(ctx); errors.As(err, &decoding) {
			return delivery.Permanent(err)
		}
		return nil
	}
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), func(context.Context, order) error { return errBusy }, service.HandlerOptions{}))
	must(t, handlerOf(t, reg, service.Config{Middleware: []service.Middleware{skip}}).Deliver(t.Context(), envelope("a", `{}`)))
	err := handlerOf(t, reg, service.Config{Middleware: []service.Middleware{judge}}).Deliver(t.Context(), envelope("a", `[]`))
	if delivery.VerdictOf(err) != delivery.VerdictPermanent {
		t.Fatalf("got %v, want the middleware's verdict", err)
	}
}

func TestRegistryChangesWhileEntriesAreDelivered(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	steady := service.MustOperation[order]("steady")
	must(t, service.Handle(reg, steady, ignore, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})
	var group sync.WaitGroup
	for _, id := range []string{"x", "y"} {
		op := service.Alias(service.MustOperation[order](id), id+".old")
		group.Go(func() {
			for range 300 {
				if err := service.Handle(reg, op, ignore, service.HandlerOptions{}); err != nil {
					t.Error(err)
				}
				reg.Pause(id)
				reg.Resume(id)
				reg.Remove(id)
			}
		})
	}
	for range 4 {
		group.Go(func() {
			for range 300 {
				if err := h.Deliver(t.Context(), envelope("steady", `{}`)); err != nil {
					t.Error(err)
				}
				if err := h.Deliver(t.Context(), envelope("x.old", `{}`)); err != nil && delivery.VerdictOf(err) != delivery.VerdictUnresolvable {
					t.Error(err)
				}
				if !slices.Contains(reg.Targets(), "steady") {
					t.Error("an operation that nobody touched was missing from the scope")
				}
			}
		})
	}
	group.Wait()
	if got := scope(t, h); !slices.Equal(got, []string{"steady"}) {
		t.Errorf("claims %q at the end", got)
	}
}
