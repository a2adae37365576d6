package pgserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// The tests of this file set environment variables, so they are not parallel.

func TestGivenServerIsUsedAndLeftRunning(t *testing.T) {
	lent := own(t, Options{Ephemeral: true})
	t.Setenv(EnvURL, lent.URL)
	var said []string
	given, err := Find(t.Context(), Options{
		Settings: map[string]string{"wal_level": "logical"},
		Logf:     func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if given.URL != lent.URL || given.Version != lent.Version || !given.IsGiven() {
		t.Errorf("got %+v, want the given server", given)
	}
	if len(said) != 1 || !strings.Contains(said[0], "not applied") {
		t.Errorf("said %q, want that the settings have no effect", said)
	}
	if err := given.Crash(t.Context()); !errors.Is(err, servers.ErrGiven) {
		t.Errorf("Crash: got %v, want ErrGiven", err)
	}
	if err := given.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := mustQuery(t, lent, "SELECT 'up'"); got != "up" {
		t.Error("Stop ended a given server")
	}

	// A test that wants a server of its own passes over the given one.
	private := own(t, Options{Ephemeral: true})
	if private.URL == lent.URL || private.IsGiven() {
		t.Error("a private server is the given one")
	}
}

func TestGivenServerThatDoesNotAnswer(t *testing.T) {
	port, err := daemon.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		fmt.Sprintf("postgres://someone:secret@127.0.0.1:%d/hidden", port): "nothing listens there",
		"postgres://someone:secret@hidden.invalid/hidden":                  "the host name is unknown",
		"postgres://someone:secret@hidden:notaport/hidden":                 "no connection URL",
	} {
		t.Setenv(EnvURL, url)
		_, err := Find(t.Context(), Options{})
		if !errors.Is(err, servers.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
			continue
		}
		text := err.Error()
		if !strings.Contains(text, EnvURL) || !strings.Contains(text, want) {
			t.Errorf("error %q, want %s and %q", text, EnvURL, want)
		}
		for _, part := range []string{"secret", "someone", "hidden", "container", "local binaries"} {
			if strings.Contains(text, part) {
				t.Errorf("error %q holds %q", text, part)
			}
		}
	}
}

func TestGivenServerThatRefuses(t *testing.T) {
	lent := own(t, Options{Ephemeral: true})
	t.Setenv(EnvURL, strings.Replace(lent.URL, "postgres@", "hidden@", 1))
	_, err := Find(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "SQLSTATE 28000") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("got %v, want the SQLSTATE and no name", err)
	}
}

func TestFindEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, Options{Private: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}
