package listener

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lib/pq"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
)

// Channel is the notification channel of the outbox. Its payload means nothing.
const Channel = "transactional_outbox_channel"

// Listener wakes relays. It implements relay.Waker.
type Listener struct {
	cfg     Config
	dsn     string
	running atomic.Bool
	state   atomic.Int32

	mu   sync.Mutex
	subs map[chan struct{}]struct{} // guarded by mu
}

var _ relay.Waker = (*Listener)(nil)

// State says whether hints can be expected.
type State int32

// The states of a listener.
const (
	// Down: not connected. Relays find new entries by polling.
	Down State = iota
	// Connected: listening, and not known to be deaf.
	Connected
	// Deaf: connected, but notifications do not arrive: most likely a pooler is in between.
	Deaf
)

// String returns the state's name, "unknown" for a value that is none.
func (s State) String() string {
	switch s {
	case Down:
		return "down"
	case Connected:
		return "connected"
	case Deaf:
		return "deaf"
	}
	return "unknown"
}

// ErrRunning is returned by Run while the listener runs.
var ErrRunning = errors.New("satchel: the listener is already running")

// New checks the configuration and returns a listener for a database, or all problems
// joined, each a *fault.Invalid. It does no I/O.
// The DSN is a URL or a list of keywords as lib/pq reads it; settings of pgx's pool in
// a URL are ignored. Errors never repeat it.
func New(dsn string, cfg Config) (*Listener, error) {
	clean, reason := forPQ(dsn)
	var refused error
	if reason != "" {
		refused = fault.NewInvalid("listener DSN", reason)
	}
	if err := errors.Join(cfg.Validate(), refused); err != nil {
		return nil, err
	}
	return &Listener{cfg: cfg.withDefaults(), dsn: clean, subs: map[chan struct{}]struct{}{}}, nil
}

// State returns the present state.
func (l *Listener) State() State { return State(l.state.Load()) }

// Subscribe implements relay.Waker.
func (l *Listener) Subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	l.subs[c] = struct{}{}
	l.mu.Unlock()
	return c, func() {
		l.mu.Lock()
		delete(l.subs, c)
		l.mu.Unlock()
	}
}

// hint gives every subscriber a value, unless it has one waiting.
func (l *Listener) hint() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.subs {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Run listens until ctx ends and then returns nil, at the latest two seconds later.
// It may be called again. A goroutine of lib/pq may outlive it by one pause between
// reconnections.
func (l *Listener) Run(ctx context.Context) error {
	if !l.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer l.running.Store(false)
	connector, err := pq.NewConnector(l.dsn)
	if err != nil {
		return fault.NewInvalid("listener DSN", "is not one that lib/pq can read")
	}
	outward := &dialer{life: l.cfg.EchoTimeout}
	connector.Dialer(outward)
	sender := sql.OpenDB(connector)
	sender.SetMaxIdleConns(0) // nothing is held between checks
	defer func() { _ = sender.Close() }()

	d := &dialer{}
	s := &session{Listener: l, dialer: d, sender: sender, outward: outward, probe: "satchel_probe_" + strings.ToLower(rand.Text())}
	pql := pq.NewDialListener(d, l.dsn, l.cfg.MinReconnect, l.cfg.MaxReconnect, s.onEvent)
	err = s.run(ctx, pql)
	l.to(ctx, Down, "stopped")
	return err
}

// to changes the state and says so once.
func (l *Listener) to(ctx context.Context, s State, why string) {
	if State(l.state.Swap(int32(s))) != s {
		l.cfg.Logger.InfoContext(ctx, "listener "+s.String(), "reason", why)
	}
}

func describe(err error) string { return fmt.Sprintf("%.200s", fault.Text(err)) }
