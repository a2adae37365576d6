package kafka

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/IBM/sarama"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
)

// Handler delivers entries of type destination.Kafka. It is safe for concurrent use.
type Handler struct {
	names       HeaderNames
	scope       claim.Scope
	topics      func() []string // nil for all
	isTombstone func(topic string) bool
	maxBytes    int

	lanes lanes
}

var (
	_ delivery.BatchHandler  = (*Handler)(nil)
	_ delivery.Fingerprinter = (*Handler)(nil)
)

// NewHandler checks cfg and returns a handler that is not connected yet: the first
// delivery connects, or [Handler.Connect]. It does no I/O, so a cluster that is down
// does not keep a service from starting. The error joins all problems, each a
// *fault.Invalid.
func NewHandler(cfg Config) (*Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	settings := cfg.producerConfig()
	h := &Handler{
		names:       cfg.Names.withDefaults(),
		scope:       claim.All(),
		isTombstone: cfg.Tombstone,
		maxBytes:    settings.Producer.MaxMessageBytes,
		lanes:       newLanes(cfg.Brokers, settings),
	}
	if cfg.Topics != nil {
		h.scope, h.topics = claim.Targets(cfg.Topics), cfg.Topics
	}
	return h, nil
}

// Type implements delivery.Handler.
func (h *Handler) Type() destination.Type { return destination.Kafka }

// Scope implements delivery.Handler.
func (h *Handler) Scope() claim.Scope { return h.scope }

// Connect waits until the cluster is reached, or for the failure of one try. Nothing
// needs it; it lets a service say at its start that a cluster is down.
func (h *Handler) Connect(ctx context.Context) error { return classify(h.lanes.main.Connect(ctx)) }

// Deliver implements delivery.Handler: it returns when all in-sync replicas have the
// record, when the cluster refused it, or when ctx ends. In the last case the record
// may have been stored, or may still be.
func (h *Handler) Deliver(ctx context.Context, e delivery.Envelope) error {
	return h.DeliverBatch(ctx, []delivery.Envelope{e})[0]
}

// DeliverBatch implements delivery.BatchHandler: all records are handed to the client
// at once, which groups those of one partition, and each has its own result.
func (h *Handler) DeliverBatch(ctx context.Context, batch []delivery.Envelope) []error {
	results := make([]error, len(batch))
	records := make([]*sarama.ProducerMessage, 0, len(batch))
	index := make([]int, 0, len(batch)) // of each record in batch
	served := h.served()
	for i := range batch {
		if !served(batch[i].Destination) {
			results[i] = delivery.Unresolvable(fault.NewInvalid("kafka topic", "is not one that this handler serves"))
			continue
		}
		m, err := h.record(&batch[i])
		if err != nil {
			results[i] = delivery.Permanent(err)
			continue
		}
		records, index = append(records, m), append(index, i)
	}
	if len(records) == 0 {
		return results
	}
	lane, err := h.lanes.take(ctx, len(records))
	if err != nil {
		for _, i := range index {
			results[i] = classify(err)
		}
		return results
	}
	reachable := sync.OnceValue(func() bool { return lane.Reachable(ctx, records[0].Topic) }) // slow when it is not
	for k, err := range lane.Send(ctx, records) {
		i := index[k]
		switch {
		case rejectsRequest(err):
			err = h.sendAlone(ctx, &batch[i])
		case brokenConnection(err) && !reachable():
			err = fmt.Errorf("%w: %w", sarama.ErrOutOfBrokers, err)
		}
		results[i] = classify(err)
	}
	return results
}

// served tells whether a topic is in the scope at this moment. The scope can have
// shrunk since an entry was claimed.
func (h *Handler) served() func(topic string) bool {
	if h.topics == nil {
		return func(string) bool { return true }
	}
	topics := h.topics()
	return func(topic string) bool { return slices.Contains(topics, topic) }
}

// sendAlone sends an entry in a request of its own. A cluster refuses the records of
// one partition in one request together, so a refusal may be a neighbour's fault.
// Nothing of a refused request was stored: sending it again makes no duplicate.
// Nor does it overtake an older attempt of its aggregate on the other connection: a
// producer has one request open and retries in order, so that whatever it held for this
// partition had its result before this record was refused.
func (h *Handler) sendAlone(ctx context.Context, e *delivery.Envelope) error {
	m, err := h.record(e)
	if err != nil {
		return err
	}
	return h.lanes.alone.Send(ctx, []*sarama.ProducerMessage{m})[0]
}

// Fingerprint implements delivery.Fingerprinter: the id of the cluster, the same for
// every topic, or "" while the cluster is not reached or if it has none. Give this
// method's result to outbox.Config.Fingerprint to tie entries to their cluster.
func (h *Handler) Fingerprint(ctx context.Context, _ string) string {
	return h.lanes.main.ClusterID(ctx)
}

// Close refuses further deliveries, waits until what was handed to the client has its
// results, and disconnects. When ctx ends first it cuts the connections and returns
// an error that says how many records were left without a result; what still runs
// inside the client then ends within its retries. A later Close waits for the end
// of the first. Deliver returns an error after Close began.
func (h *Handler) Close(ctx context.Context) error { return h.lanes.close(ctx) }
