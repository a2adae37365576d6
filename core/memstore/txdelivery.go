package memstore

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
)

// DeliverTx implements relay.TxSession; work gets a *[Tx]. A work that panics leaves
// nothing behind, and the panic goes on.
func (s *session) DeliverTx(ctx context.Context, o relay.Outcome, work func(ctx context.Context, tx any) error) (recorded bool, workErr, err error) {
	if ctx.Err() != nil {
		return false, nil, canceled(ctx, opDeliverTx)
	}
	tx := s.store.Begin()
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if workErr = work(ctx, tx); workErr != nil {
		return false, workErr, nil
	}
	recorded, published, err := s.commit(tx, &o)
	if published {
		s.store.waker.hint()
	}
	return recorded, nil, err
}

const opDeliverTx = "relay.deliverTx"

// commit settles and commits in one step, or does neither. It does not look at the
// context: the work is done, and giving it up now would only repeat it.
func (s *session) commit(tx *Tx, o *relay.Outcome) (recorded, published bool, err error) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	switch {
	case tx.done: // work ended the transaction, which it must not
		return false, false, &fault.Persistence{Op: opDeliverTx, Err: ErrTxDone}
	case tx.failed:
		return false, false, &fault.Persistence{Op: opDeliverTx, Code: codeAborted, Err: errTxFailed}
	case !s.settle(o, time.Now()):
		return false, false, nil
	}
	published, err = tx.commit()
	return err == nil, published, err
}
