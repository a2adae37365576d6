package wiring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

// journal notes what happens, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// lasting is a part that ends a while after it was told to.
func (j *journal) lasting(name string, takes time.Duration, result error) part {
	return part{name, func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(takes)
		j.note(name)
		return result
	}}
}

func TestRunEndsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		a := &App{
			relays: []part{j.lasting("relay 1", time.Second, nil), j.lasting("relay 2", 2*time.Second, nil)},
			others: []part{j.lasting("scheduler", 0, nil), j.lasting("listener", time.Second, nil)},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		synctest.Wait()
		if err := a.Run(ctx); !errors.Is(err, ErrRunning) {
			t.Errorf("a second run: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if want := []string{"relay 1", "relay 2", "scheduler", "listener"}; !slices.Equal(j.lines, want) {
			t.Errorf("ended %v, want %v", j.lines, want)
		}
		// It may be called again.
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Run(ctx); err != nil || len(j.lines) != 8 {
			t.Errorf("the next run: %v, ended %v", err, j.lines)
		}
	})
}

func TestRunEndsWhenAPartFails(t *testing.T) {
	t.Parallel()
	failure := errors.New("broken")
	for _, c := range []struct {
		name   string
		result error
	}{{"with an error", failure}, {"without one", nil}} {
		for _, relay := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var j journal
					broken := part{"the broken part", func(context.Context) error {
						time.Sleep(time.Minute)
						return c.result
					}}
					a := &App{
						relays: []part{j.lasting("relay", time.Second, errors.New("stuck"))},
						others: []part{j.lasting("listener", 0, nil)},
					}
					if relay {
						a.relays = append(a.relays, broken)
					} else {
						a.others = append(a.others, broken)
					}
					err := a.Run(t.Context())
					if !errors.Is(err, ErrEnded) || errors.Is(err, failure) != (c.result != nil) {
						t.Errorf("run: %v", err)
					}
					for _, want := range []string{"the broken part: ended by itself", "relay: stuck"} {
						if err == nil || !strings.Contains(err.Error(), want) {
							t.Errorf("%v: does not say %q", err, want)
						}
					}
					if want := []string{"relay", "listener"}; !slices.Equal(j.lines, want) {
						t.Errorf("ended %v, want %v", j.lines, want)
					}
				})
			})
		}
	}
}

func TestNewAppRefusesWhatCannotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		relays      []*relay.Relay
		maintenance *scheduler.Scheduler
		field       string
	}{
		"no scheduler": {[]*relay.Relay{{}}, nil, "scheduler"},
		"a nil relay":  {[]*relay.Relay{{}, nil}, &scheduler.Scheduler{}, "relays"},
		"no relays":    {nil, &scheduler.Scheduler{}, ""},
	} {
		a, end, err := NewApp(c.relays, c.maintenance, nil)
		var invalid *fault.Invalid
		refused := errors.As(err, &invalid)
		if refused != (c.field != "") || refused && invalid.Field != c.field || (a == nil) != refused || (end == nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the cleanup closes after the application is not closed under its feet.
func TestCloseWaitsForTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		a := &App{relays: []part{j.lasting("relay", time.Minute, nil)}}
		ended := make(chan error, 1)
		go func() { ended <- a.Run(t.Context()) }()
		synctest.Wait()
		a.close()
		j.note("closed")
		if want := []string{"relay", "closed"}; !slices.Equal(j.lines, want) {
			t.Errorf("%v, want %v", j.lines, want)
		}
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if err := a.Run(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a run after the end: %v", err)
		}
		a.close() // again, and without a run
	})
}
