package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgerr"
)

// Bounds of [Store.Exclusive] and [Store.MaintainArchive].
const (
	// MaxJobLength is the longest name of a job, in characters.
	MaxJobLength = 64
	// MaxOwnerLength is the longest name of who runs a job, in characters.
	MaxOwnerLength = 255
	// MaxArchiveDaysAhead is the largest number of days for which partitions are made.
	MaxArchiveDaysAhead = 366
	// MaxArchiveKeepDays is the largest number of days for which partitions are kept.
	MaxArchiveKeepDays = 36_500
)

const (
	// lockIdle is how long the server keeps the lock of a node that it hears nothing of.
	lockIdle = 15 * time.Second
	// lockBeat is how often a node that works is heard of.
	lockBeat = lockIdle / 3
	// lockSetting makes the server end the transaction that holds the lock.
	lockSetting = "SET LOCAL idle_in_transaction_session_timeout = '15s'"
)

// Exclusive runs work unless another node runs the same job now, or began it less
// than period ago, and reports whether it did. Nodes that are due at the same moment
// thus do the job once.
//
// While work runs, a transaction on a connection of its own, outside the pool, holds an
// advisory lock; it ends with the connection, so a crashed node keeps nobody waiting. A
// node that is cut off from the server keeps the others waiting for 15 seconds, and
// the context of its work ends when it notices. The transaction reads and writes nothing
// and holds back no vacuum. Should the connection be lost meanwhile, two nodes may do the
// job at once for a moment, which the statements of maintenance bear. The runs are
// recorded in the table outbox_maintenance.
//
// job has at most 64 characters and owner, which says who runs it, 255; period may be 0.
// What is out of bounds is refused with a *fault.Invalid.
//
// ran is false also when the lock could not be asked for: err is then a
// *fault.Persistence. An error of work comes back as it is, with ran true: the job has then
// begun, so that nobody else does it before period is over, but LastRun does not count it.
func (s *Store) Exclusive(ctx context.Context, job, owner string, period time.Duration, work func(ctx context.Context) (affected int64, err error)) (ran bool, err error) {
	const op = "maintenance.exclusive"
	if err := checkExclusive(job, owner, period, work != nil); err != nil {
		return false, err
	}
	lock, err := s.lockJob(ctx, job)
	if lock == nil {
		return false, pgerr.Wrap(op, err)
	}
	defer lock.release()
	ours := false
	err = s.batch(ctx, op, func(b *pgx.Batch) {
		b.Queue(s.stmt.MaintenanceBegin, job, owner, period.Microseconds()).Exec(func(tag pgconn.CommandTag) error {
			ours = tag.RowsAffected() > 0
			return nil
		})
	})
	if err != nil || !ours {
		return false, err
	}
	affected, err := lock.during(ctx, op, work)
	if err != nil {
		return true, err
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return true, s.batch(ending, op, func(b *pgx.Batch) {
		b.Queue(s.stmt.MaintenanceEnd, job, owner, affected)
	})
}

func checkExclusive(job, owner string, period time.Duration, hasWork bool) error {
	if reason := checkName(job, MaxJobLength); reason != "" {
		return fault.NewInvalid("job", reason)
	}
	if reason := checkName(owner, MaxOwnerLength); reason != "" {
		return fault.NewInvalid("job owner", reason)
	}
	if period < 0 {
		return fault.NewInvalid("job period", "is negative")
	}
	if !hasWork {
		return fault.NewInvalid("job work", "is nil")
	}
	return nil
}

// checkName says why a name of at most limit characters cannot be stored, or "".
func checkName(name string, limit int) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is blank"
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return "is not valid text"
	case utf8.RuneCountInString(name) > limit:
		return fmt.Sprintf("is longer than %d characters", limit)
	}
	return ""
}

// jobLock is the lock of a job, held by an open transaction.
type jobLock struct {
	conn *pgx.Conn
	tx   pgx.Tx
}

// lockJob returns nil when another node holds the lock, or with an error.
func (s *Store) lockJob(ctx context.Context, job string) (_ *jobLock, err error) {
	ctx, cancel := context.WithTimeout(ctx, relay.DefaultStoreTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return nil, err
	}
	lock := &jobLock{conn: conn}
	locked := false
	if lock.tx, err = conn.Begin(ctx); err == nil {
		if _, err = lock.tx.Exec(ctx, lockSetting); err == nil {
			err = lock.tx.QueryRow(ctx, s.stmt.MaintenanceLock, s.stmt.Outbox, job).Scan(&locked)
		}
	}
	if err != nil || !locked {
		lock.release()
		return nil, err
	}
	return lock, nil
}

// release closes the connection, and with it ends the transaction and the lock.
func (l *jobLock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.conn.Close(ctx)
}

// during runs work and meanwhile shows the server that this node is alive. When the
// server does not answer, the context of work ends: a call that waits for the same
// network would otherwise wait for as long as the operating system does.
func (l *jobLock) during(ctx context.Context, op string, work func(ctx context.Context) (int64, error)) (int64, error) {
	working, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	defer func() {
		end(nil)
		<-ended
	}()
	go func() {
		defer close(ended)
		for beat := time.NewTicker(lockBeat); ; {
			select {
			case <-working.Done():
				beat.Stop()
				return
			case <-beat.C:
			}
			call, cancel := context.WithTimeout(working, lockBeat)
			_, err := l.tx.Exec(call, "SELECT")
			cancel()
			if err != nil {
				end(pgerr.Wrap(op, err))
			}
		}
	}()
	affected, err := work(working)
	if err != nil && ctx.Err() == nil && working.Err() != nil {
		err = context.Cause(working) // says more than that the context ended
	}
	return affected, err
}

// LastRun returns how long ago a maintenance job last succeeded on any node, or ok
// false when it never did. An age of several of the job's periods means that nobody
// runs it, or that it fails every time: alarm on it.
func (s *Store) LastRun(ctx context.Context, job string) (age time.Duration, ok bool, err error) {
	var micros []int64
	err = s.use(ctx, "maintenance.lastRun", func(conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, s.stmt.LastRun, job)
		if err != nil {
			return err
		}
		return eachID(rows, func(n int64) { micros = append(micros, n) })
	})
	if err != nil || len(micros) == 0 {
		return 0, false, err
	}
	return time.Duration(micros[0]) * time.Microsecond, true, nil
}

// MaintainArchive creates the archive's partitions for the coming days and drops those
// of which every entry was published more than keepDays ago; 0 keeps all. It returns the
// number of partitions dropped. daysAhead is 0 to 366 and keepDays 0 to 36,500; what is
// beyond is refused with a *fault.Invalid. The role needs EXECUTE on the function
// outbox_archive_maintain. What cannot be locked within 200 ms is left to a later call.
func (s *Store) MaintainArchive(ctx context.Context, daysAhead, keepDays int) (dropped int, err error) {
	if daysAhead < 0 || daysAhead > MaxArchiveDaysAhead {
		return 0, fault.NewInvalid("archive days ahead", fmt.Sprintf("are not between 0 and %d", MaxArchiveDaysAhead))
	}
	if keepDays < 0 || keepDays > MaxArchiveKeepDays {
		return 0, fault.NewInvalid("archive days to keep", fmt.Sprintf("are not between 0 and %d", MaxArchiveKeepDays))
	}
	var keep *int
	if keepDays > 0 {
		keep = &keepDays
	}
	err = s.use(ctx, "maintenance.archive", func(conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, s.stmt.ArchiveMaintain, daysAhead, keep).Scan(&dropped)
	})
	return dropped, err
}
