package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
)

func TestMessageValidate(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("\U0001F600", inbox.MaxLength)
	for _, c := range []struct {
		value, reason string
	}{
		{"a", ""},
		{" a ", ""},
		{wide, ""},
		{strings.Repeat("x", inbox.MaxLength), ""},
		{"a\nb", ""},
		{"", "is empty"},
		{" \t\n\u00a0", "is blank"},
		{wide + "x", "is longer than 255 characters"},
		{strings.Repeat("x", inbox.MaxLength+1), "is longer than 255 characters"},
		{"\xff", "is not valid UTF-8"},
		{"a\x00b", "has the character U+0000"},
	} {
		for field, m := range map[string]inbox.Message{
			"inbox message id": {ID: c.value, Source: "s"},
			"inbox source":     {ID: "i", Source: c.value},
		} {
			err := m.Validate()
			if c.reason == "" {
				if err != nil {
					t.Errorf("%s %.10q: %v", field, c.value, err)
				}
				continue
			}
			var refused *fault.Invalid
			if !errors.As(err, &refused) || refused.Field != field || refused.Reason != c.reason {
				t.Errorf("%s %.10q: %v, want that it %s", field, c.value, err, c.reason)
			}
		}
	}
}

// recorder is an inbox.Recorder that answers what it is told.
type recorder struct {
	isNew bool
	err   error
	calls int
}

func (r *recorder) Record(context.Context, string, inbox.Message) (bool, error) {
	r.calls++
	return r.isNew, r.err
}

func TestOnce(t *testing.T) {
	t.Parallel()
	failure, storeFailure := errors.New("work"), &fault.Persistence{Op: "inbox.record", Err: errors.New("down")}
	m := inbox.Message{ID: "1", Source: "s"}
	for _, c := range []struct {
		name     string
		message  inbox.Message
		recorder recorder
		work     error
		ran      bool
		err      error
		recorded int
	}{
		{"new", m, recorder{isNew: true}, nil, true, nil, 1},
		{"seen", m, recorder{}, nil, false, nil, 1},
		{"new, work fails", m, recorder{isNew: true}, failure, true, failure, 1},
		{"seen, work would fail", m, recorder{}, failure, false, nil, 1},
		{"store fails", m, recorder{err: storeFailure}, nil, false, storeFailure, 1},
		{"store fails and says new", m, recorder{isNew: true, err: storeFailure}, nil, false, storeFailure, 1},
		{"invalid", inbox.Message{Source: "s"}, recorder{isNew: true}, nil, false, fault.NewInvalid("inbox message id", "is empty"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			called := false
			r := c.recorder
			ran, err := inbox.NewProcessor[string](&r).Once(t.Context(), "tx", c.message, func(context.Context) error {
				called = true
				return c.work
			})
			if ran != c.ran || called != c.ran || fmt.Sprint(err) != fmt.Sprint(c.err) || r.calls != c.recorded {
				t.Errorf("ran %v, called %v, %v, recorded %d times", ran, called, err, r.calls)
			}
			if c.work != nil && c.ran && err != c.work { //nolint:errorlint // it must be this very error, not one that wraps it
				t.Errorf("the error of the work is wrapped: %v", err)
			}
		})
	}
	r := recorder{isNew: true}
	if ran, err := inbox.NewProcessor[string](&r).Once(t.Context(), "tx", m, nil); ran || !fault.IsInvalid(err) || r.calls != 0 {
		t.Errorf("without work: %v, %v, recorded %d times", ran, err, r.calls)
	}
}

// TestNoRecorder: a processor that can record nothing says so instead of panicking.
func TestNoRecorder(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*inbox.Processor[string]{
		"zero":        {},
		"nil":         inbox.NewProcessor[string](nil),
		"nil pointer": inbox.NewProcessor[string]((*recorder)(nil)),
	} {
		ran, err := p.Once(t.Context(), "tx", inbox.Message{ID: "1", Source: "s"}, func(context.Context) error {
			t.Errorf("%s: the work was done", name)
			return nil
		})
		var refused *fault.Invalid
		if ran || !errors.As(err, &refused) || refused.Field != "inbox recorder" {
			t.Errorf("%s: %v, %v", name, ran, err)
		}
	}
}
