package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/relay"
)

// Settle implements relay.Session.
func (s *session) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) ([]bool, error) {
	if len(outcomes) == 0 && len(ended) == 0 {
		return nil, nil
	}
	done, other := columnsOf(outcomes)
	settled := make(map[settledKey]struct{}, len(outcomes))
	note := func(published bool) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			return eachSettled(rows, func(id, lease int64) { settled[settledKey{id, lease, published}] = struct{}{} })
		}
	}
	wake, next := false, followers{of: finished(outcomes)}
	settle := func(b *pgx.Batch) {
		if len(done.ids) > 0 {
			b.Queue(s.settlePublished(), done.ids, done.leases).Query(note(true))
		}
		if len(other.ids) > 0 {
			b.Queue(s.stmt.SettleOther, other.ids, other.leases, other.kinds, other.delays, other.errors, other.types).Query(note(false))
		}
		if len(ended) > 0 {
			ids := make([]int64, len(ended))
			for i, id := range ended {
				ids[i] = int64(id)
			}
			b.Queue(s.stmt.LeaseEnd, ids)
		}
	}
	var err error
	if len(next.of) < worthAsking {
		err = s.batch(ctx, "relay.settle", settle)
	} else {
		err = s.batch(ctx, "relay.settle", settle, func(b *pgx.Batch) { b.Queue(s.stmt.Successors, next.of).Query(next.read) })
	}
	if err != nil && !next.asked { // else the outcomes are recorded, and only the question failed
		return nil, err
	}
	recorded := make([]bool, len(outcomes))
	s.mu.Lock()
	for i := range outcomes {
		o := &outcomes[i]
		key := settledKey{int64(o.ID), int64(o.Lease), o.Kind == relay.Published}
		_, recorded[i] = settled[key]
		delete(settled, key) // an outcome that is given twice is recorded once
		wake = wake || o.Kind == relay.Released
	}
	for _, aggregate := range next.known(err) {
		s.recheck.add(aggregate)
	}
	s.mu.Unlock()
	if wake {
		s.notify(ctx) // somebody else may be able to go on with these at once
	}
	return recorded, nil
}

// settledKey tells outcomes of one call apart: of those that name the same entry, only
// the one under its lease is recorded.
type settledKey struct {
	id, lease int64
	published bool
}

// settlePublished returns the statement for delivered entries.
func (s *session) settlePublished() string {
	switch s.opts.OnPublished {
	case relay.Delete:
		return s.stmt.SettleDelete
	case relay.Archive:
		return s.stmt.SettleArchive
	default:
		return s.stmt.SettleKeep
	}
}

// columns are the parameters of a settling statement.
type columns struct {
	ids, leases, delays []int64
	kinds               []int32
	errors, types       []string
}

// columnsOf separates delivered entries, which need an id and a lease only, from others.
func columnsOf(outcomes []relay.Outcome) (done, other columns) {
	done.ids, done.leases = make([]int64, 0, len(outcomes)), make([]int64, 0, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		if o.Kind == relay.Published {
			done.ids, done.leases = append(done.ids, int64(o.ID)), append(done.leases, int64(o.Lease))
			continue
		}
		other.ids, other.leases = append(other.ids, int64(o.ID)), append(other.leases, int64(o.Lease))
		other.kinds = append(other.kinds, int32(o.Kind))
		other.delays = append(other.delays, o.Delay.Microseconds())
		other.errors, other.types = append(other.errors, o.LastError), append(other.types, o.ErrorType)
	}
	return done, other
}

// DeliverTx implements relay.TxSession. The transaction given to work is a pgx.Tx.
func (s *session) DeliverTx(ctx context.Context, o relay.Outcome, work func(ctx context.Context, tx any) error) (recorded bool, workErr, err error) {
	err = s.use(ctx, "relay.deliverTx", func(conn *pgxpool.Conn) error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		if workErr = work(ctx, tx); workErr != nil {
			return nil
		}
		// From here on the outcome must not depend on the handler's time.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), relay.DefaultStoreTimeout)
		defer cancel()
		held := false
		b := &pgx.Batch{}
		b.Queue(s.stmt.Settings)
		b.Queue(s.settlePublished(), []int64{int64(o.ID)}, []int64{int64(o.Lease)}).Query(func(rows pgx.Rows) error {
			return eachSettled(rows, func(int64, int64) { held = true })
		})
		if err := tx.SendBatch(ctx, b).Close(); err != nil || !held {
			return err
		}
		if err := tx.Commit(ctx); err != nil {
			return err
		}
		recorded = true
		return nil
	})
	if recorded {
		s.mu.Lock()
		s.recheck.add(o.AggregateID)
		s.mu.Unlock()
	}
	return recorded, workErr, err
}
