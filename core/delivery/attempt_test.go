package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// handler does what its fields say.
type handler struct {
	typ         destination.Type
	scope       claim.Scope
	deliver     func(e delivery.Envelope) error
	batch       func(batch []delivery.Envelope) []error
	fingerprint func(name string) string
}

func (h *handler) Type() destination.Type { return h.typ }
func (h *handler) Scope() claim.Scope     { return h.scope }

func (h *handler) Deliver(_ context.Context, e delivery.Envelope) error { return h.deliver(e) }

func (h *handler) DeliverBatch(_ context.Context, batch []delivery.Envelope) []error {
	return h.batch(batch)
}
func (h *handler) InTx(delivery.Envelope) bool { return true }

func (h *handler) DeliverTx(_ context.Context, _ any, e delivery.Envelope) error { return h.deliver(e) }

func (h *handler) Fingerprint(_ context.Context, name string) string { return h.fingerprint(name) }

func TestAttemptCatchesPanics(t *testing.T) {
	t.Parallel()
	for _, value := range []any{errors.New("secret"), "secret", 7, nil, struct{ s string }{"secret"}} {
		h := &handler{deliver: func(delivery.Envelope) error { panic(value) }}
		for name, err := range map[string]error{
			"Attempt":   delivery.Attempt(t.Context(), h, delivery.Envelope{}),
			"AttemptTx": delivery.AttemptTx(t.Context(), h, nil, delivery.Envelope{}),
		} {
			var panicked *delivery.PanicError
			if !errors.As(err, &panicked) || delivery.VerdictOf(err) != delivery.VerdictRetryable || len(panicked.Stack) == 0 {
				t.Errorf("%s of a panic with %T: %v", name, value, err)
				continue
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the text shows the value: %v", name, err)
			}
		}
	}
	var none *handler // a nil dereference is a panic too
	if err := delivery.Attempt(t.Context(), none, delivery.Envelope{}); err == nil {
		t.Error("a nil handler delivered")
	}
	want := errors.New("as it is")
	err := delivery.Attempt(t.Context(), &handler{deliver: func(delivery.Envelope) error { return want }}, delivery.Envelope{})
	if err != want { //nolint:errorlint // it must be this very error, not one that wraps it
		t.Errorf("got %v, want the handler's error", err)
	}
}

func TestAttemptBatch(t *testing.T) {
	t.Parallel()
	failure := errors.New("one failed")
	for _, c := range []struct {
		name  string
		size  int
		batch func(batch []delivery.Envelope) []error
		want  []string
	}{
		{"independent", 3, func([]delivery.Envelope) []error { return []error{nil, failure, nil} }, []string{"", "one failed", ""}},
		{"empty", 0, func([]delivery.Envelope) []error { return nil }, nil},
		{"too few", 2, func([]delivery.Envelope) []error { return []error{nil} }, slices.Repeat([]string{"satchel: handler returned 1 results for 2 entries"}, 2)},
		{"none", 1, func([]delivery.Envelope) []error { return nil }, []string{"satchel: handler returned 0 results for 1 entries"}},
		{"too many", 1, func([]delivery.Envelope) []error { return []error{nil, nil} }, []string{"satchel: handler returned 2 results for 1 entries"}},
		{"panic", 2, func([]delivery.Envelope) []error { panic("x") }, slices.Repeat([]string{"satchel: handler panicked with a string"}, 2)},
		{"half-done panic", 1, func(b []delivery.Envelope) []error { return make([]error, 1/len(b[1:])) }, []string{"satchel: handler panicked with a runtime.runtimeError"}},
	} {
		got := delivery.AttemptBatch(t.Context(), &handler{batch: c.batch}, make([]delivery.Envelope, c.size))
		if len(got) != c.size {
			t.Errorf("%s: %d results for %d entries", c.name, len(got), c.size)
			continue
		}
		for i, err := range got {
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != c.want[i] && !strings.HasPrefix(c.want[i], "satchel: handler panicked with a runtime") {
				t.Errorf("%s: result %d is %q, want %q", c.name, i, text, c.want[i])
			}
			if c.want[i] != "" && delivery.VerdictOf(err) != delivery.VerdictRetryable {
				t.Errorf("%s: result %d is %v", c.name, i, delivery.VerdictOf(err))
			}
		}
	}
}

func TestCheckFingerprint(t *testing.T) {
	t.Parallel()
	marked := func(doc string) *delivery.Envelope {
		e := &delivery.Envelope{DestinationType: "KAFKA", Destination: "orders"}
		if doc != "" {
			e.Metadata.Delivery = map[string]json.RawMessage{outbox.FingerprintKey: json.RawMessage(doc)}
		}
		return e
	}
	for _, c := range []struct {
		name, stored, have string
		want               delivery.Verdict
	}{
		{"same", `"cluster-1"`, "cluster-1", delivery.VerdictDelivered},
		{"none stored", "", "cluster-1", delivery.VerdictDelivered},
		{"none known", `"cluster-1"`, "", delivery.VerdictDelivered},
		{"empty stored", `""`, "cluster-1", delivery.VerdictDelivered},
		{"malformed stored", `{"a":1}`, "cluster-1", delivery.VerdictDelivered},
		{"another", `"cluster-1"`, "cluster-2", delivery.VerdictUnresolvable},
		{"another case", `"cluster-1"`, "Cluster-1", delivery.VerdictUnresolvable},
	} {
		h := &handler{fingerprint: func(string) string { return c.have }}
		err := delivery.CheckFingerprint(t.Context(), h, marked(c.stored))
		if delivery.VerdictOf(err) != c.want || (err != nil) != errors.Is(err, delivery.ErrFingerprint) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "luster") {
			t.Errorf("%s: the error shows a fingerprint: %v", c.name, err)
		}
	}
	h := &handler{fingerprint: func(string) string { return "b" }}
	err := delivery.CheckFingerprint(t.Context(), h, marked(`"a"`))
	if want := "satchel: stored for a destination with another fingerprint (destination type "; !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
	h = &handler{fingerprint: func(string) string { panic("x") }}
	if err := delivery.CheckFingerprint(t.Context(), h, marked(`"a"`)); delivery.VerdictOf(err) != delivery.VerdictRetryable {
		t.Errorf("a panic: %v", err)
	}
	if err := delivery.CheckFingerprint(t.Context(), plain{}, marked(`"a"`)); err != nil {
		t.Errorf("a handler without fingerprints: %v", err)
	}
}

// plain is a handler without optional methods.
type plain struct{ delivery.Handler }

func TestErrorType(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":                              nil,
		"*errors.errorString":           errors.New("x"),
		"*fs.PathError":                 delivery.Permanent(fmt.Errorf("a: %w", &fs.PathError{Err: errors.New("x")})),
		"*delivery.PanicError":          &delivery.PanicError{},
		"context.deadlineExceededError": fmt.Errorf("a: %w", context.DeadlineExceeded),
		"*errors.joinError":             errors.Join(errors.New("x"), errors.New("y")),
		"*delivery_test.named[[]uint8]": named[[]byte]{}.pointer(),
		"delivery_test.empty":           delivery.Unresolvable(empty{}),
	} {
		if got := delivery.ErrorType(err); got != want {
			t.Errorf("ErrorType(%v) = %q, want %q", err, got, want)
		}
	}
}

type named[T any] struct{ _ T }

func (n named[T]) pointer() error { return &n }
func (*named[T]) Error() string   { return "named" }

type empty struct{}

func (empty) Error() string { return "" }
