package migrator

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ariga.io/atlas/sql/migrate"
)

const (
	firstLockPause = time.Second
	lastLockPause  = 30 * time.Second
)

// runner applies single files on a session that is prepared and locked.
type runner struct {
	cfg  Config
	conn *sql.Conn
	dir  migrate.Dir
}

// run applies one file, again if it could not get its table lock in time.
func (r *runner) run(ctx context.Context, file migrate.File) error {
	pause := firstLockPause
	for attempt := 1; ; attempt++ {
		err := r.once(ctx, file)
		if !hasSQLState(err, sqlstateLockNotAvailable) || attempt >= r.cfg.LockAttempts {
			return err
		}
		r.cfg.Logger.WarnContext(ctx, "table is busy, migration will be tried again",
			"file", file.Name(), "attempt", attempt, "pause", pause)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, lastLockPause)
	}
}

func (r *runner) once(ctx context.Context, file migrate.File) error {
	if outsideTransaction(file) {
		return r.withoutTransaction(ctx, file)
	}
	return r.inTransaction(ctx, file)
}

// withoutTransaction runs a concurrent build or drop. Progress is stored after each statement.
func (r *runner) withoutTransaction(ctx context.Context, file migrate.File) error {
	if err := r.dropRemains(ctx, file); err != nil {
		return err
	}
	executor, err := r.executor(r.conn, revisions{r.conn})
	if err != nil {
		return err
	}
	return executor.Execute(ctx, file)
}

// inTransaction runs a file and records it, both or neither.
func (r *runner) inTransaction(ctx context.Context, file migrate.File) (err error) {
	tx, err := r.conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	defer func() {
		// After Commit this answers ErrTxDone, which is what we want to hear.
		if rollback := tx.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, rollback)
		}
	}()
	store := &pendingRevisions{revisions: revisions{tx}}
	executor, err := r.executor(tx, store)
	if err != nil {
		return err
	}
	if err := executor.Execute(ctx, file); err != nil {
		return err
	}
	if err := store.flush(ctx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}
