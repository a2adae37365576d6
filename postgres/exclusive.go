package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/postgres/internal/pgerr"
)

// Exclusive runs work unless another node runs the same job now, or began it less
// than period ago, and reports whether it did. Nodes that are due at the same moment
// thus do the job once.
//
// While work runs, a transaction on a connection of its own, outside the pool, holds an
// advisory lock; it ends with the connection, so a crashed node keeps nobody waiting. The
// transaction reads and writes nothing and holds back no vacuum. Should the connection
// be lost meanwhile, two nodes may do the job at once, which the statements of
// maintenance bear. The runs are recorded in the table outbox_maintenance.
func (s *Store) Exclusive(ctx context.Context, job, owner string, period time.Duration, work func(ctx context.Context) (affected int64, err error)) (ran bool, err error) {
	const op = "maintenance.exclusive"
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return false, pgerr.Wrap(op, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return false, pgerr.Wrap(op, err)
	}
	locked := false
	if err := tx.QueryRow(ctx, s.stmt.MaintenanceLock, s.stmt.Outbox, job).Scan(&locked); err != nil || !locked {
		return false, pgerr.Wrap(op, err)
	}
	ours := false
	err = s.use(ctx, op, func(conn *pgxpool.Conn) error {
		tag, err := conn.Exec(ctx, s.stmt.MaintenanceBegin, job, owner, period.Microseconds())
		ours = tag.RowsAffected() > 0
		return err
	})
	if err != nil || !ours {
		return false, err
	}
	affected, err := work(ctx)
	if endErr := s.use(context.WithoutCancel(ctx), op, func(conn *pgxpool.Conn) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, err := conn.Exec(ctx, s.stmt.MaintenanceEnd, job, owner, affected)
		return err
	}); err == nil {
		err = endErr
	}
	return true, err
}

// LastRun returns how long ago a maintenance job was last finished by any node, or ok
// false when it never was. An age of several of the job's periods means that nobody
// runs it: alarm on it.
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
// of which every entry was published more than keepDays ago; 0 keeps all. It returns
// the number of partitions dropped. The role needs EXECUTE on the function
// outbox_archive_maintain.
func (s *Store) MaintainArchive(ctx context.Context, daysAhead, keepDays int) (dropped int, err error) {
	var keep *int
	if keepDays > 0 {
		keep = &keepDays
	}
	err = s.use(ctx, "maintenance.archive", func(conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, s.stmt.ArchiveMaintain, daysAhead, keep).Scan(&dropped)
	})
	return dropped, err
}
