package delayedjob

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
)

// MuxConfig is the configuration of a [Mux]. The zero value is ready to use.
type MuxConfig struct {
	// Propagation restores the durable context of the publish; nil restores nothing.
	Propagation *propagation.Set
	// ReservedPrefix is the one of the relay's [Config]; empty means "satchel-".
	ReservedPrefix string
}

// Validate returns a *fault.Invalid, or nil.
func (c MuxConfig) Validate() error {
	_, err := c.withDefaults()
	return err
}

func (c MuxConfig) withDefaults() (MuxConfig, error) {
	c.ReservedPrefix = cmp.Or(c.ReservedPrefix, outbox.DefaultReservedPrefix)
	if reason := checkPrefix(c.ReservedPrefix); reason != "" {
		return c, fault.NewInvalid("reserved prefix", reason)
	}
	return c, nil
}

// Mux is the worker's side: an asynq.Handler that gives each task to the typed
// function of its job. Give it to asynq.Server.Run, or, to wrap it in middleware,
// register it with an asynq.ServeMux for every one of its [Mux.IDs]. Unlike a
// ServeMux it matches whole ids: a task for "invoice.send.v2" never reaches the
// function of "invoice.send". It is safe for concurrent use.
type Mux struct {
	cfg MuxConfig

	mu   sync.RWMutex
	jobs map[string]func(context.Context, []byte) error
}

var _ asynq.Handler = (*Mux)(nil)

// NewMux returns a mux without jobs. It refuses a prefix that no relay can have, with
// which no task would have a message id, as a *fault.Invalid.
func NewMux(cfg MuxConfig) (*Mux, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Mux{cfg: cfg, jobs: map[string]func(context.Context, []byte) error{}}, nil
}

// HandleFunc registers the function that runs a job. A second one for the same id, a
// nil function and a zero job are refused as *fault.Invalid.
//
// The function gets the decoded payload and a context that holds the restored
// propagation context and the [MessageID]. Its error makes asynq retry the job until
// its attempts are used up; asynq.SkipRetry gives up at once. A payload that does
// not decode never reaches it: the task is archived at once, since the same bytes
// would fail each time. asynq runs a job at least once: to run its effect once, hand
// the message id to an inbox.
func HandleFunc[P any](m *Mux, job Job[P], run func(context.Context, P) error) error {
	switch {
	case job.id == "":
		return fault.NewInvalid("job", "was not made by NewJob")
	case run == nil:
		return fault.NewInvalid(fmt.Sprintf("function of job %q", job.id), "is nil")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.jobs[job.id]; taken {
		return fault.NewInvalid(fmt.Sprintf("job %q", job.id), "has a function already")
	}
	m.jobs[job.id] = func(ctx context.Context, payload []byte) error {
		var p P
		if !decode(payload, &p) {
			return fmt.Errorf("job %q: payload does not decode as %T: %w", job.id, p, asynq.SkipRetry)
		}
		return run(ctx, p)
	}
	return nil
}

// decode reports no reason: the decoder's texts quote the payload. A type whose
// UnmarshalJSON panics counts as one that does not decode.
func decode(payload []byte, into any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return json.Unmarshal(payload, into) == nil
}

// IDs returns the ids of the registered jobs, sorted. A node that relays and works
// at once can give them to its [Registry].
func (m *Mux) IDs() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.jobs))
}

// ProcessTask implements asynq.Handler. A task without a function is an error that
// wraps asynq.ErrHandlerNotFound and is retried by asynq like any other: another
// server may have the function.
func (m *Mux) ProcessTask(ctx context.Context, t *asynq.Task) error {
	m.mu.RLock()
	run, ok := m.jobs[t.Type()]
	m.mu.RUnlock()
	if !ok {
		return fmt.Errorf("job %q: %w", fault.Clean(t.Type(), maxJobID), asynq.ErrHandlerNotFound)
	}
	id, known, stored := decodeHeaders(m.cfg.ReservedPrefix, t.Headers())
	ctx = m.cfg.Propagation.Restore(ctx, stored)
	if known {
		ctx = context.WithValue(ctx, messageIDKey{}, id)
	}
	return run(ctx, t.Payload())
}

type messageIDKey struct{}

// MessageID returns the id of the outbox message whose job runs with ctx: the same on
// every run, and the key under which an inbox recognises a repeated one. It is not ok
// for a task that was not enqueued by a relay.
func MessageID(ctx context.Context) (id outbox.MessageID, ok bool) {
	id, ok = ctx.Value(messageIDKey{}).(outbox.MessageID)
	return id, ok
}
