package servers_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/servers"
)

// recorder is a Control that notes its calls and fails those it is told to.
type recorder struct {
	mu    sync.Mutex
	calls []string
	fail  map[string]error
}

func (r *recorder) note(call string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return r.fail[call]
}

func (r *recorder) Remove(context.Context) error  { return r.note("remove") }
func (r *recorder) Restart(context.Context) error { return r.note("restart") }
func (r *recorder) Crash(context.Context) error   { return r.note("crash") }
func (r *recorder) Pause(context.Context) error   { return r.note("pause") }
func (r *recorder) Resume(context.Context) error  { return r.note("resume") }

// disturbances are the methods that a given server refuses.
var disturbances = map[string]func(*servers.Instance, context.Context) error{
	"restart": (*servers.Instance).Restart,
	"crash":   (*servers.Instance).Crash,
	"pause":   (*servers.Instance).Pause,
	"resume":  (*servers.Instance).Resume,
}

func TestGivenServerIsLeftAlone(t *testing.T) {
	t.Parallel()
	given := servers.Given("postgres", "15.18", "SATCHEL_DATABASE_URL")
	if !given.IsGiven() {
		t.Error("IsGiven is false")
	}
	for name, disturb := range disturbances {
		if err := disturb(given, t.Context()); !errors.Is(err, servers.ErrGiven) {
			t.Errorf("%s: got %v, want ErrGiven", name, err)
		}
	}
	if err := given.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func TestStartedServerIsGoverned(t *testing.T) {
	t.Parallel()
	for name, disturb := range disturbances {
		control := &recorder{}
		started := servers.Started("redis", "7.0.15", "somewhere", control)
		if err := disturb(started, t.Context()); err != nil || !slices.Equal(control.calls, []string{name}) {
			t.Errorf("%s: error %v, calls %v", name, err, control.calls)
		}
	}
}

func TestFailureOfADisturbanceIsTold(t *testing.T) {
	t.Parallel()
	cause := errors.New("cannot")
	for name, disturb := range disturbances {
		started := servers.Started("redis", "7.0.15", "somewhere", &recorder{fail: map[string]error{name: cause}})
		if err := disturb(started, t.Context()); !errors.Is(err, cause) {
			t.Errorf("%s: got %v, want the control's error", name, err)
		}
	}
}

func TestStopHappensOnceAndKeepsItsAnswer(t *testing.T) {
	t.Parallel()
	cause := errors.New("folder is busy")
	control := &recorder{fail: map[string]error{"remove": cause}}
	started := servers.Started("kafka", "4.3.1", "somewhere", control)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if err := started.Stop(t.Context()); !errors.Is(err, cause) {
				t.Errorf("Stop: got %v, want the first answer", err)
			}
		})
	}
	wait.Wait()
	if !slices.Equal(control.calls, []string{"remove"}) {
		t.Errorf("calls %v, want one removal", control.calls)
	}
	if err := started.Restart(t.Context()); !errors.Is(err, servers.ErrStopped) {
		t.Errorf("Restart after Stop: got %v, want ErrStopped", err)
	}
}

func TestLineSaysWhatAndWhence(t *testing.T) {
	t.Parallel()
	standIn := servers.Started("redis", "v2.40.0", "miniredis, inside the process", &recorder{})
	standIn.StandIn = true
	for want, instance := range map[string]*servers.Instance{
		"postgres: 15.18 (local binaries /usr/lib/postgresql/15/bin)": servers.Started(
			"postgres", "15.18", "local binaries /usr/lib/postgresql/15/bin", &recorder{}),
		"kafka: 4.3 (given by SATCHEL_KAFKA_BROKERS)":              servers.Given("kafka", "4.3", "SATCHEL_KAFKA_BROKERS"),
		"redis: v2.40.0 (stand-in: miniredis, inside the process)": standIn,
	} {
		if got := instance.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestRealRequired(t *testing.T) {
	for value, want := range map[string]bool{"1": true, "": false, "0": false} {
		t.Setenv(servers.EnvRequireReal, value)
		if got := servers.RealRequired(); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}
