package delayedjob

import (
	"math"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
)

type invoice struct {
	Order int `json:"order"`
}

func TestNewJobFillsDefaults(t *testing.T) {
	t.Parallel()
	job, err := NewJob[invoice]("invoice.send", Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	if job.ID() != "invoice.send" {
		t.Errorf("id is %q", job.ID())
	}
	if got, want := job.Defaults(), (Defaults{Queue: "default", Priority: 0, MaxAttempts: 3}); got != want {
		t.Errorf("defaults are %+v, want %+v", got, want)
	}
	given := Defaults{Queue: "mail", Priority: -4, MaxAttempts: 1}
	if got := MustJob[invoice]("x", given).Defaults(); got != given {
		t.Errorf("defaults are %+v, want what was given", got)
	}
}

func TestNewJobRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id    string
		d     Defaults
		field string
	}{
		"empty id":          {"", Defaults{}, "job id is empty"},
		"blank id":          {" \t", Defaults{}, "job id is empty"},
		"long id":           {strings.Repeat("é", 256), Defaults{}, "job id is too long"},
		"malformed id":      {"a\xff", Defaults{}, "job id is not valid UTF-8"},
		"control in id":     {"a\x00b", Defaults{}, "job id has a control"},
		"blank queue":       {"a", Defaults{Queue: " "}, "job queue is empty"},
		"brace in queue":    {"a", Defaults{Queue: "a}b"}, "job queue has a brace"},
		"long queue":        {"a", Defaults{Queue: strings.Repeat("q", 129)}, "job queue is too long"},
		"negative attempts": {"a", Defaults{MaxAttempts: -1}, "job max attempts"},
		"many attempts":     {"a", Defaults{MaxAttempts: math.MaxInt32 + 1}, "job max attempts"},
		"high priority":     {"a", Defaults{Priority: math.MaxInt32 + 1}, "job priority"},
		"low priority":      {"a", Defaults{Priority: math.MinInt32 - 1}, "job priority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewJob[invoice](c.id, c.d)
			if !fault.IsInvalid(err) {
				t.Errorf("error is %T, want *fault.Invalid", err)
			}
			wantText(t, err, c.field)
		})
	}
	if _, err := NewJob[invoice](strings.Repeat("é", 255), Defaults{Queue: strings.Repeat("q", 128), MaxAttempts: math.MaxInt32}); err != nil {
		t.Errorf("the longest names are refused: %v", err)
	}
	_, err := NewJob[invoice]("", Defaults{Queue: "{", MaxAttempts: -1})
	wantText(t, err, "job id", "job queue", "job max attempts")
}

func TestMustJobPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if err, ok := recover().(error); !ok || !fault.IsInvalid(err) {
			t.Errorf("panicked with %v, want the *fault.Invalid", err)
		}
	}()
	MustJob[invoice]("", Defaults{})
}
