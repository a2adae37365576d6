package redisserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect makes a client that fails at once instead of trying again.
func connect(t *testing.T, server *Server) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// stopLater stops the server with the test.
func stopLater(t *testing.T, server *Server) *Server {
	t.Helper()
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	t.Logf("%v", server)
	return server
}

// own finds a server that the test may crash: a real one where there is one.
func own(t *testing.T) *Server {
	t.Helper()
	server, err := Find(t.Context(), Options{Private: true, Logf: t.Logf})
	if err != nil {
		t.Fatalf("no Redis server; run \"make test\", or install redis-server: %v", err)
	}
	return stopLater(t, server)
}

// standIn starts miniredis, whatever else is there.
func standIn(t *testing.T) *Server {
	t.Helper()
	server, err := Options{}.standIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stopLater(t, server)
}

func TestConfirmedWritesSurviveACrash(t *testing.T) { outages(t, own(t)) }

func TestStandInKeepsItsDataToo(t *testing.T) {
	t.Setenv(servers.EnvRequireReal, "")
	outages(t, standIn(t))
}

// outages crashes and restarts a server and looks for what was written.
func outages(t *testing.T, server *Server) {
	t.Helper()
	client := connect(t, server)
	if err := client.Set(t.Context(), "kept", "yes", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := server.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("the server answers after a crash")
	}
	for range 2 { // once from a crash, once from running
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := connect(t, server).Get(t.Context(), "kept").Result()
		if err != nil || got != "yes" {
			t.Errorf("after a restart: %q, %v", got, err)
		}
	}
}

func TestPause(t *testing.T) {
	server := own(t)
	if server.StandIn {
		for _, err := range []error{server.Pause(t.Context()), server.Resume(t.Context())} {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("got %v, want ErrUnsupported", err)
			}
		}
		return
	}
	client := connect(t, server)
	if err := server.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := client.Ping(ctx).Err(); err == nil {
		t.Error("a paused server answers")
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

func TestStandInSaysSoAndCanBeRefused(t *testing.T) {
	t.Setenv(servers.EnvRequireReal, "")
	server := standIn(t)
	if !server.StandIn || !strings.Contains(server.String(), "stand-in") {
		t.Errorf("line %q, StandIn %v", server, server.StandIn)
	}
	if _, err := (Options{Require: true}).standIn(t.Context()); !errors.Is(err, servers.ErrStandIn) {
		t.Errorf("Require: got %v, want ErrStandIn", err)
	}
	t.Setenv(servers.EnvRequireReal, "1")
	if _, err := (Options{}).standIn(t.Context()); !errors.Is(err, servers.ErrStandIn) {
		t.Errorf("%s: got %v, want ErrStandIn", servers.EnvRequireReal, err)
	}
}

func TestWithoutAnythingTheReasonsAreTold(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("DOCKER_HOST", "tcp://engine.invalid:2375")
	_, err := Find(t.Context(), Options{Private: true, Require: true})
	for _, want := range []error{servers.ErrUnavailable, ErrNoBinary, servers.ErrStandIn} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want it to match %v", err, want)
		}
	}
}

func TestNamedImageIsFinal(t *testing.T) {
	t.Setenv(EnvImage, "some/redis")
	t.Setenv("DOCKER_HOST", "unix:///does/not/exist")
	server, err := Find(t.Context(), Options{Private: true})
	if !errors.Is(err, servers.ErrUnavailable) || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, %v; want ErrUnavailable for the container alone", server, err)
	}
}

func TestGivenServerIsUsedAndLeftRunning(t *testing.T) {
	lent := own(t)
	t.Setenv(EnvURL, lent.URL)
	given, err := Find(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if given.URL != lent.URL || !given.IsGiven() || given.Version == "" {
		t.Errorf("got %+v, want the given server", given)
	}
	if err := given.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := connect(t, lent).Ping(t.Context()).Err(); err != nil {
		t.Errorf("Stop ended a given server: %v", err)
	}
}

func TestGivenServerThatDoesNotAnswer(t *testing.T) {
	port, err := daemon.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		fmt.Sprintf("redis://someone:secret@127.0.0.1:%d/0", port): "nothing listens there",
		"redis://someone:secret@hidden.invalid:1/0":                "the host name is unknown",
		"hidden://someone:secret@":                                 "not a connection URL",
	} {
		t.Setenv(EnvURL, url)
		_, err := Find(t.Context(), Options{})
		if !errors.Is(err, servers.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrUnavailable and %q", err, want)
			continue
		}
		for _, part := range []string{"secret", "someone", "hidden", "miniredis"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("error %q holds %q", err, part)
			}
		}
	}
}
