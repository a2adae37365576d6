package relay

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// endings are the ways in which the context of an attempt ends.
var endings = map[string]struct {
	end  func(parent context.CancelCauseFunc, c *attemptContext)
	want error
}{
	"deadline": {func(context.CancelCauseFunc, *attemptContext) { time.Sleep(time.Second) }, context.DeadlineExceeded},
	"attempt":  {func(_ context.CancelCauseFunc, c *attemptContext) { c.end() }, context.Canceled},
	"parent":   {func(cancel context.CancelCauseFunc, _ *attemptContext) { cancel(nil) }, context.Canceled},
}

// TestAttemptContextEnds: whether or not somebody has asked for Done before, the context
// ends with its parent, at its deadline and with the attempt, and so do those derived
// from it.
func TestAttemptContextEnds(t *testing.T) {
	t.Parallel()
	for name, e := range endings {
		for _, asked := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					parent, cancel := context.WithCancelCause(context.Background())
					defer cancel(nil)
					c := newAttemptContext(parent, time.Second)
					defer c.end()
					if asked {
						select {
						case <-c.Done():
							t.Fatal("done at once")
						default:
						}
					}
					if err := c.Err(); err != nil {
						t.Fatalf("ended at once: %v", err)
					}
					e.end(cancel, c)
					synctest.Wait()
					if err := c.Err(); !errors.Is(err, e.want) {
						t.Errorf("Err() = %v, want %v", err, e.want)
					}
					cancel(nil)
					c.end()
					time.Sleep(2 * time.Second) // whatever comes after it, the end stays what it was
					<-c.Done()
					derived, stop := context.WithCancel(c)
					defer stop()
					<-derived.Done()
					for what, err := range map[string]error{"Err": c.Err(), "derived": derived.Err(), "Cause": context.Cause(c)} {
						if !errors.Is(err, e.want) {
							t.Errorf("%s: %v, want %v", what, err, e.want)
						}
					}
				})
			})
		}
	}
}

// TestAttemptContextIsOneOfTheStandardLibrary: deriving from it starts no goroutine,
// and it passes values, the cause and the earlier deadline of its parent on.
func TestAttemptContextIsOneOfTheStandardLibrary(t *testing.T) {
	type key struct{}
	cause := errors.New("why")
	parent, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "value"))
	defer cancel(nil)
	c := newAttemptContext(parent, time.Hour)
	defer c.end()
	if got := c.Value(key{}); got != "value" {
		t.Errorf("value %v before Done", got)
	}
	before := runtime.NumGoroutine()
	for range 10 {
		_, stop := context.WithTimeout(c, time.Minute)
		defer stop()
	}
	if n := runtime.NumGoroutine() - before; n > 0 {
		t.Errorf("%d goroutines were started", n)
	}
	if got := c.Value(key{}); got != "value" {
		t.Errorf("value %v after Done", got)
	}
	cancel(cause)
	if got := context.Cause(c); !errors.Is(got, cause) {
		t.Errorf("cause %v, want that of the parent", got)
	}
	short, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	want, _ := short.Deadline()
	if got, ok := newAttemptContext(short, time.Hour).Deadline(); !ok || !got.Equal(want) {
		t.Errorf("deadline %v, want that of the parent, %v", got, want)
	}
}
