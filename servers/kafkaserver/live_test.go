package kafkaserver

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

// outages crashes and restarts a broker between two records.
func outages(t *testing.T, server *Server) {
	t.Helper()
	broker := server.Brokers[0]
	produce(t, server, "kept", "before")
	if err := server.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if silent(t, broker) {
		t.Error("a crashed broker keeps connections open")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	produce(t, server, "kept", "after")
	got := consume(t, server, "kept", 2)
	slices.Sort(got)
	if want := []string{"after", "before"}; !slices.Equal(got, want) || server.Brokers[0] != broker {
		t.Errorf("records %v at %s, want %v at the same place", got, server.Brokers[0], want)
	}
}

// silent reports whether the broker takes a connection and gives no answer within a moment.
func silent(t *testing.T, broker string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := ask(ctx, broker)
	if err == nil {
		t.Fatal("the broker answers")
	}
	return errors.Is(err, context.DeadlineExceeded)
}

func TestOutages(t *testing.T) {
	server := own(t)
	outages(t, server)
	if server.StandIn {
		return
	}
	if err := server.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !silent(t, server.Brokers[0]) {
		t.Error("a paused broker does not keep connections open")
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	produce(t, server, "kept", "once more")

	// The same broker, as one that is given.
	t.Setenv(EnvBrokers, " "+server.Brokers[0]+", ")
	given, err := Find(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !given.IsGiven() || !slices.Equal(given.Brokers, server.Brokers) ||
		!strings.HasPrefix(server.Version, given.Version) {
		t.Errorf("got %v at %v, want the given broker, version %s", given, given.Brokers, server.Version)
	}
	if err := given.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	produce(t, server, "kept", "after the given one's Stop")
}

func TestOutagesOfTheStandIn(t *testing.T) {
	t.Setenv(servers.EnvRequireReal, "")
	server := standIn(t)
	if !server.StandIn || !strings.Contains(server.String(), "stand-in") {
		t.Errorf("line %q, StandIn %v", server, server.StandIn)
	}
	outages(t, server)
	for _, err := range []error{server.Pause(t.Context()), server.Resume(t.Context())} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
	}
}

func TestStandInCanBeRefused(t *testing.T) {
	t.Setenv(servers.EnvRequireReal, "")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("JAVA_HOME", "")
	t.Setenv("DOCKER_HOST", "tcp://engine.invalid:2375")
	_, err := Find(t.Context(), Options{Private: true, Require: true})
	for _, want := range []error{servers.ErrUnavailable, ErrNoJava, servers.ErrStandIn} {
		if !errors.Is(err, want) {
			t.Errorf("got %v, want it to match %v", err, want)
		}
	}
	t.Setenv(servers.EnvRequireReal, "1")
	if _, err := (Options{}).standIn(t.Context()); !errors.Is(err, servers.ErrStandIn) {
		t.Errorf("%s: got %v, want ErrStandIn", servers.EnvRequireReal, err)
	}
}

func TestNamedImageIsFinal(t *testing.T) {
	t.Setenv(EnvHome, "")
	t.Setenv(EnvImage, "some/kafka")
	t.Setenv("DOCKER_HOST", "unix:///does/not/exist")
	server, err := Find(t.Context(), Options{Private: true})
	if !errors.Is(err, servers.ErrUnavailable) || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, %v; want ErrUnavailable for the container alone", server, err)
	}
}

func TestGivenBrokerThatDoesNotAnswer(t *testing.T) {
	port, err := daemon.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvBrokers, address(port))
	_, err = Find(t.Context(), Options{})
	if !errors.Is(err, servers.ErrUnavailable) || !strings.Contains(err.Error(), EnvBrokers) {
		t.Fatalf("got %v, want ErrUnavailable for %s", err, EnvBrokers)
	}
	for _, part := range []string{"127.0.0.1", "kfake"} {
		if strings.Contains(err.Error(), part) {
			t.Errorf("error %q holds %q", err, part)
		}
	}
}
