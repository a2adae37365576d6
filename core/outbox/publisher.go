package outbox

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
)

// Publisher writes entries in the caller's transaction: they exist if and only if
// that transaction commits. It keeps no state and is safe for concurrent use as far
// as the transactions are. Create it with [NewPublisher].
type Publisher[Tx any] struct {
	writer  Writer[Tx]
	cfg     Config
	refused error // what is wrong with cfg
}

// NewPublisher returns a publisher that writes through w. One without a writer, or with a
// configuration that [Config.Validate] refuses, refuses every entry with that error. Most
// applications call the one of their store's module, which calls this one.
func NewPublisher[Tx any](w Writer[Tx], cfg Config) *Publisher[Tx] {
	if absent.Is(w) {
		w = nil
	}
	return &Publisher[Tx]{writer: w, cfg: cfg.withDefaults(), refused: cfg.Validate()}
}

// Publish stores one entry in tx and returns its id. Nothing is delivered before
// the transaction commits, and nothing ever is when it rolls back, also to a
// savepoint.
//
// A *fault.Invalid means that the entry, or the publisher itself, was refused before
// anything was sent: tx is still usable. A *fault.Persistence means that the statement
// failed, and tx with it.
func (p *Publisher[Tx]) Publish(ctx context.Context, tx Tx, e Entry) (ID, error) {
	ids, err := p.PublishAll(ctx, tx, e)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// PublishAll stores several entries in one statement, all or none, and returns
// their ids in the order given. Entries of one aggregate are delivered in that
// order. With no entries it does nothing. Errors are as with [Publisher.Publish]; that of
// a refused entry says which one it was.
func (p *Publisher[Tx]) PublishAll(ctx context.Context, tx Tx, entries ...Entry) ([]ID, error) {
	if p.writer == nil {
		return nil, fault.NewInvalid("outbox writer", "is nil")
	}
	if p.refused != nil {
		return nil, p.refused
	}
	if len(entries) == 0 {
		return nil, nil
	}
	captured := p.cfg.Propagation.Capture(ctx)
	records := make([]Record, len(entries))
	for i := range entries {
		r, err := p.record(&entries[i], captured)
		if err != nil {
			if len(entries) > 1 {
				err = fmt.Errorf("entry %d: %w", i, err)
			}
			return nil, err
		}
		records[i] = r
	}
	ids, err := p.writer.Insert(ctx, tx, records)
	if err != nil {
		return nil, err
	}
	if len(ids) != len(records) {
		return nil, &fault.Persistence{Op: "outbox.publish", Err: fmt.Errorf("%d ids for %d entries", len(ids), len(records))}
	}
	return ids, nil
}

// record validates an entry and stamps what the application does not choose.
func (p *Publisher[Tx]) record(e *Entry, captured map[string]json.RawMessage) (Record, error) {
	if err := e.validate(); err != nil {
		return Record{}, err
	}
	doc, raw, err := encodePayload(e.Payload)
	if err != nil {
		return Record{}, err
	}
	if err := checkHeaders(e.Headers, p.cfg.ReservedPrefix); err != nil {
		return Record{}, err
	}
	metadata, err := p.metadata(e, captured)
	if err != nil {
		return Record{}, err
	}
	r := Record{
		MessageID:       NewMessageID(),
		AggregateType:   e.AggregateType,
		AggregateID:     e.AggregateID,
		EventType:       e.EventType,
		Destination:     e.Destination,
		DestinationType: e.DestinationType,
		Payload:         doc,
		Metadata:        metadata,
		MaxAttempts:     e.MaxAttempts,
		AvailableAt:     e.AvailableAt,
		ScheduledAt:     e.ScheduledAt,
	}
	if raw != nil {
		r.Payload, r.ContentType = append([]byte{}, raw.Data...), raw.ContentType
	}
	if len(e.Headers) > 0 {
		if r.Headers, err = json.Marshal(e.Headers); err != nil {
			return Record{}, fault.NewInvalid("headers", "do not marshal to JSON")
		}
	}
	if r.MaxAttempts == 0 {
		r.MaxAttempts = p.cfg.MaxAttempts
	}
	return r, nil
}

func (p *Publisher[Tx]) metadata(e *Entry, captured map[string]json.RawMessage) (json.RawMessage, error) {
	m := Metadata{Context: captured, Delivery: e.Delivery}
	if p.cfg.Fingerprint != nil {
		if mark := p.cfg.Fingerprint(e.DestinationType, e.Destination); mark != "" {
			doc, err := json.Marshal(mark)
			if err != nil {
				return nil, fault.NewInvalid("destination fingerprint", "does not marshal to JSON")
			}
			m.Delivery = make(map[string]json.RawMessage, len(e.Delivery)+1)
			for kind, control := range e.Delivery {
				m.Delivery[kind] = control
			}
			m.Delivery[FingerprintKey] = doc
		}
	}
	return m.Encode()
}
