package delayedjob

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/hibiken/asynq"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
)

// Handler enqueues the jobs of committed outbox entries. It implements
// delivery.Handler and delivery.Fingerprinter and is safe for concurrent use.
type Handler struct {
	cfg   Config
	asynq atomic.Pointer[asynq.Client]
}

var (
	_ delivery.Handler       = (*Handler)(nil)
	_ delivery.Fingerprinter = (*Handler)(nil)
)

// ErrUnknownJob is wrapped by the error of an entry whose job id is not in the
// registry of this node.
var ErrUnknownJob = errors.New("job id is not in this node's registry")

// NewHandler checks the configuration and returns all problems joined, each a
// *fault.Invalid. It does not connect.
func NewHandler(cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg}
	h.renew()
	return h, nil
}

// renew replaces the asynq client, which costs nothing: the connections are ours. A
// client registers each queue once and remembers that; one that outlived a Redis
// without its data would leave the queue unknown to asynq's inspection.
func (h *Handler) renew() { h.asynq.Store(asynq.NewClientFromRedisClient(h.cfg.Client)) }

// Type returns DELAYED_JOB.
func (h *Handler) Type() destination.Type { return destination.DelayedJob }

// Scope returns the job ids of the registry, read anew in every claim cycle.
func (h *Handler) Scope() claim.Scope { return claim.Targets(h.cfg.Registry.IDs) }

// Fingerprint returns the configured fingerprint, for every job.
func (h *Handler) Fingerprint(context.Context, string) string { return h.cfg.Fingerprint }

// TaskID returns the asynq task id of a message: with it and the queue a task can be
// found in Redis.
func (h *Handler) TaskID(id outbox.MessageID) string {
	if h.cfg.Namespace == "" {
		return id.String()
	}
	return h.cfg.Namespace + ":" + id.String()
}

// Deliver enqueues the job of one entry. A task with the same id, in whatever state,
// means that an earlier attempt got through, and counts as delivered.
//
// Unresolvable: the job id is not in the registry, which holds no id that asynq could
// not take. Permanent: the snapshot is missing or malformed, the payload is not JSON,
// or there is no message id. Unavailable: Redis cannot be reached. Retryable: everything else, among it a Redis
// that answers with an error (read-only, out of memory, loading) and a time-out, after
// which it is not known whether the task exists.
func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !h.cfg.Registry.Has(e.Destination) {
		return delivery.Unresolvable(ErrUnknownJob)
	}
	task, options, err := h.task(&e)
	if err != nil {
		return delivery.Permanent(err)
	}
	_, err = h.asynq.Load().EnqueueContext(ctx, task, options...)
	if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	h.renew()
	return h.classify(ctx, err)
}
