package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/listener"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

// Errors of [App.Run].
var (
	// ErrRunning is returned while the application runs already.
	ErrRunning = errors.New("satchel: the application is already running")
	// ErrClosed is returned after the cleanup function of the injector was called.
	ErrClosed = errors.New("satchel: the application is closed")
	// ErrEnded is wrapped by the error for a part that ended although nobody told it to.
	ErrEnded = errors.New("ended by itself")
)

// App runs what has a life of its own. Make it by an injector.
type App struct {
	relays []part // ended first
	others []part // ended when the relays have ended

	mu     sync.Mutex
	cancel context.CancelFunc // of the run, nil when there is none
	ended  chan struct{}      // closed when the run is over
	closed bool
}

// part is something that runs until its context ends.
type part struct {
	name string
	run  func(ctx context.Context) error
}

// NewApp returns an application and the function that ends it: that waits until a run is
// over, so that what the parts use can be closed after it. A nil listener is left out; a nil
// scheduler or relay is refused as a *fault.Invalid.
func NewApp(relays []*relay.Relay, maintenance *scheduler.Scheduler, l *listener.Listener) (*App, func(), error) {
	if maintenance == nil {
		return nil, nil, fault.NewInvalid("scheduler", "is nil")
	}
	if slices.Contains(relays, nil) {
		return nil, nil, fault.NewInvalid("relays", "contain nil")
	}
	a := &App{others: []part{{"scheduler", maintenance.Run}}}
	if l != nil {
		a.others = append(a.others, part{"listener", l.Run})
	}
	for i, r := range relays {
		a.relays = append(a.relays, part{fmt.Sprintf("relay %d", i+1), r.Run})
	}
	return a, a.close, nil
}

// Run runs all parts until ctx ends or one of them fails, and then ends them in order: the
// relays, which record what they are delivering, and after them the scheduler and the
// listener. It returns nil when ctx ended and all parts ended cleanly; otherwise the errors of
// the parts, joined, each with the part's name. It may be called again once it returned.
func (a *App) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, err := a.begin(cancel)
	if err != nil {
		return err
	}
	defer done()

	// The others outlive ctx: relays are served until the last one has ended.
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var problems failures
	others := start(lasting, a.others, &problems, cancel)
	start(ctx, a.relays, &problems, cancel).Wait()
	end()
	others.Wait()
	return problems.err()
}

// begin registers a run.
func (a *App) begin(cancel context.CancelFunc) (done func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, ErrClosed
	case a.cancel != nil:
		return nil, ErrRunning
	}
	ended := make(chan struct{})
	a.cancel, a.ended = cancel, ended
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.cancel = nil
		close(ended)
	}, nil
}

// close ends a run, waits for it, and refuses further ones.
func (a *App) close() {
	a.mu.Lock()
	a.closed = true
	cancel, ended := a.cancel, a.ended
	a.mu.Unlock()
	if cancel != nil {
		cancel()
		<-ended
	}
}

// start runs parts, each in a goroutine. One that ends early calls stop: without it the
// process would look alive and do half of its work.
func start(ctx context.Context, parts []part, problems *failures, stop context.CancelFunc) *sync.WaitGroup {
	var all sync.WaitGroup
	for _, p := range parts {
		all.Go(func() {
			err := p.run(ctx)
			if ctx.Err() == nil {
				err = errors.Join(ErrEnded, err)
			}
			if err != nil {
				problems.add(fmt.Errorf("%s: %w", p.name, err))
				stop()
			}
		})
	}
	return &all
}

// failures collects errors of several goroutines.
type failures struct {
	mu  sync.Mutex
	all []error
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, err)
}

func (f *failures) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.all...)
}
