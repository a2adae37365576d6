package delayedjob

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

func TestMuxDecodesAndRestores(t *testing.T) {
	t.Parallel()
	m := newMux(t, MuxConfig{Propagation: propagation.NewSet(nil, propagation.Standard()...), ReservedPrefix: "x-"})
	id := outbox.NewMessageID()
	failure := errors.New("the job's own")
	called := false
	err := HandleFunc(m, MustJob[invoice]("invoice.send", Defaults{}), func(ctx context.Context, in invoice) error {
		called = true
		if in.Order != 7 {
			t.Errorf("payload is %+v", in)
		}
		if got, ok := MessageID(ctx); !ok || got != id {
			t.Errorf("message id is %v, %v", got, ok)
		}
		if got := propagation.From(ctx, propagation.Correlation); got != "12345" {
			t.Errorf("correlation is %q", got)
		}
		if got := propagation.From(ctx, propagation.Locale); got != "" {
			t.Errorf("a malformed locale came through as %q", got)
		}
		return failure
	})
	if err != nil {
		t.Fatal(err)
	}
	headers := encodeHeaders("x-", id, map[string]json.RawMessage{
		"correlation": json.RawMessage(`"12345"`), "locale": json.RawMessage(`"no locale"`), "unknown": json.RawMessage(`1`),
	})
	if err := m.ProcessTask(t.Context(), asynq.NewTaskWithHeaders("invoice.send", []byte(`{"order":7}`), headers)); !errors.Is(err, failure) || !called {
		t.Errorf("error is %v, called %v; want the error of the job", err, called)
	}
}

func TestMuxTakesTasksOfOtherProducers(t *testing.T) {
	t.Parallel()
	m := newMux(t, MuxConfig{})
	if err := HandleFunc(m, MustJob[invoice]("a", Defaults{}), func(ctx context.Context, _ invoice) error {
		if id, ok := MessageID(ctx); ok {
			t.Errorf("message id is %v", id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, headers := range []map[string]string{nil, {"satchel-message-id": "no uuid"}} {
		if err := m.ProcessTask(t.Context(), asynq.NewTaskWithHeaders("a", []byte(`{}`), headers)); err != nil {
			t.Error(err)
		}
	}
}

// panicky is a payload type whose decoder is broken.
type panicky struct{}

func (*panicky) UnmarshalJSON([]byte) error { panic("secret") }

func TestUndecodablePayloadIsNotRetried(t *testing.T) {
	t.Parallel()
	m := newMux(t, MuxConfig{})
	register(t, m, "typed", func(context.Context, invoice) error { t.Error("the job ran"); return nil })
	register(t, m, "panicky", func(context.Context, panicky) error { t.Error("the job ran"); return nil })
	for job, payload := range map[string]string{"typed": `{"order":"secret 4711"}`, "panicky": `"secret"`} {
		for _, payload := range []string{payload, "secret", ""} {
			err := m.ProcessTask(t.Context(), asynq.NewTask(job, []byte(payload)))
			if !errors.Is(err, asynq.SkipRetry) {
				t.Errorf("error is %v, want asynq.SkipRetry inside", err)
			}
			wantText(t, err, `job "`+job+`"`)
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "4711") {
				t.Errorf("error quotes the payload: %v", err)
			}
		}
	}
}

func register[P any](t *testing.T, m *Mux, id string, run func(context.Context, P) error) {
	t.Helper()
	if err := HandleFunc(m, MustJob[P](id, Defaults{}), run); err != nil {
		t.Fatal(err)
	}
}

func TestHandleFuncRefuses(t *testing.T) {
	t.Parallel()
	m := newMux(t, MuxConfig{})
	nothing := func(context.Context, invoice) error { return nil }
	register(t, m, "b", nothing)
	register(t, m, "a", nothing)
	for text, err := range map[string]error{
		"has a function already":   HandleFunc(m, MustJob[string]("b", Defaults{}), func(context.Context, string) error { return nil }),
		"is nil":                   HandleFunc(m, MustJob[invoice]("c", Defaults{}), nil),
		"job was not made by NewJ": HandleFunc(m, Job[invoice]{}, nothing),
	} {
		wantText(t, err, text)
		if !fault.IsInvalid(err) {
			t.Errorf("error is %T, want *fault.Invalid", err)
		}
	}
	if got := m.IDs(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("ids are %v", got)
	}
}

// An asynq.ServeMux matches prefixes; behind one, the mux still refuses what is not its own.
func TestMuxMatchesWholeIDs(t *testing.T) {
	t.Parallel()
	m := newMux(t, MuxConfig{})
	register(t, m, "invoice.send", func(context.Context, invoice) error { return nil })
	outer := asynq.NewServeMux()
	wrapped := 0
	outer.Use(func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error { wrapped++; return next.ProcessTask(ctx, t) })
	})
	for _, id := range m.IDs() {
		outer.Handle(id, m)
	}
	if err := outer.ProcessTask(t.Context(), asynq.NewTask("invoice.send", []byte(`{}`))); err != nil {
		t.Error(err)
	}
	err := outer.ProcessTask(t.Context(), asynq.NewTask("invoice.send.v2", []byte(`{}`)))
	if !errors.Is(err, asynq.ErrHandlerNotFound) || errors.Is(err, asynq.SkipRetry) {
		t.Errorf("error is %v, want a retryable asynq.ErrHandlerNotFound", err)
	}
	if wrapped != 2 {
		t.Errorf("middleware ran %d times", wrapped)
	}
}
