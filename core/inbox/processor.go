package inbox

import (
	"context"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/internal/absent"
)

// Recorder is the port through which a [Processor] records messages. Tx is the type
// of the caller's transaction.
type Recorder[Tx any] interface {
	// Record stores the marker of m in tx and reports whether it was new. While another
	// transaction that recorded the same message is open it waits for that one's end.
	// A marker that is there already must not make tx unusable. It must refuse a nil
	// transaction before it touches anything, with a *fault.Invalid; a failure of the
	// store is a *fault.Persistence.
	Record(ctx context.Context, tx Tx, m Message) (isNew bool, err error)
}

// Processor runs work at most once per message. It keeps no state and is safe for
// concurrent use as far as the transactions are. Create it with [NewProcessor].
type Processor[Tx any] struct{ recorder Recorder[Tx] }

// NewProcessor returns a processor that records through r; one without a recorder refuses
// every message. Most applications call the one of their store's module, which calls this
// one.
func NewProcessor[Tx any](r Recorder[Tx]) *Processor[Tx] {
	if absent.Is(r) {
		r = nil
	}
	return &Processor[Tx]{recorder: r}
}

// Once records m in tx and, if it was new, calls work, which must do its writes in
// the same transaction. ran reports whether work was called.
//
// Marker and work commit or roll back together, so the effect in this database
// happens once however often the message arrives. Effects outside tx are not covered.
//
// An error of work comes back as it is. The marker is then still in tx: roll tx
// back, as after any failed write, and the message can be processed later. An error
// of the store is a *fault.Persistence; a *fault.Invalid means that m, work or the
// processor itself was refused before anything was sent.
func (p *Processor[Tx]) Once(ctx context.Context, tx Tx, m Message, work func(ctx context.Context) error) (ran bool, err error) {
	if p.recorder == nil {
		return false, fault.NewInvalid("inbox recorder", "is nil")
	}
	if err := m.Validate(); err != nil {
		return false, err
	}
	if work == nil {
		return false, fault.NewInvalid("inbox work", "is nil")
	}
	isNew, err := p.recorder.Record(ctx, tx, m)
	if err != nil || !isNew {
		return false, err
	}
	return true, work(ctx)
}
