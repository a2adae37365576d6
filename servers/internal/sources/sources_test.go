package sources_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// source is a Source that answers as told and notes that it was asked.
func source(name string, asked *[]string, server int, err error) sources.Source[int] {
	return sources.Source[int]{Name: name, Find: func(context.Context) (int, error) {
		*asked = append(*asked, name)
		return server, err
	}}
}

func TestFirstTakesTheFirstThatHasOne(t *testing.T) {
	t.Parallel()
	var asked, told []string
	logf := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	server, err := sources.First(t.Context(), logf,
		source("a", &asked, 0, errors.New("none here")),
		source("b", &asked, 2, nil),
		source("c", &asked, 3, nil),
	)
	if err != nil || server != 2 {
		t.Errorf("got %d, %v; want 2", server, err)
	}
	if !slices.Equal(asked, []string{"a", "b"}) {
		t.Errorf("asked %v, want a and b", asked)
	}
	if !slices.Equal(told, []string{"a: none here"}) {
		t.Errorf("told %q, want why a was passed over", told)
	}
}

func TestFirstKeepsEveryReason(t *testing.T) {
	t.Parallel()
	var asked []string
	one, two := errors.New("no program"), errors.New("no engine")
	_, err := sources.First(t.Context(), t.Logf, source("local", &asked, 0, one), source("container", &asked, 0, two))
	for _, want := range []error{servers.ErrUnavailable, one, two} {
		if !errors.Is(err, want) {
			t.Errorf("error does not match %q", want)
		}
	}
	for _, want := range []string{"local: no program", "container: no engine"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestFirstStopsAtAFinalError(t *testing.T) {
	t.Parallel()
	var asked []string
	cause := errors.New("does not answer")
	_, err := sources.First(t.Context(), t.Logf,
		source("given", &asked, 0, sources.Final(cause)),
		source("local", &asked, 1, nil),
	)
	if !errors.Is(err, cause) || !errors.Is(err, servers.ErrUnavailable) {
		t.Errorf("got %v, want the cause and ErrUnavailable", err)
	}
	if !slices.Equal(asked, []string{"given"}) {
		t.Errorf("asked %v, want only the first", asked)
	}
}

func TestFirstStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	var asked []string
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancelling := sources.Source[int]{Name: "a", Find: func(context.Context) (int, error) {
		cancel(cause)
		return 0, errors.New("cut short")
	}}
	_, err := sources.First(ctx, t.Logf, cancelling, source("b", &asked, 1, nil))
	if !errors.Is(err, cause) || len(asked) != 0 {
		t.Errorf("got %v, asked %v; want the cause of the cancellation and no further source", err, asked)
	}
}
