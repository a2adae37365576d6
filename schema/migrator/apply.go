package migrator

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"

	"github.com/satchel-go/satchel/schema"
)

// Apply brings the schema to the newest version. It returns nil when there is nothing left to do, whoever did it.
//
// It takes one connection of db for as long as it runs and closes that connection at the end. A context that ends stops
// the statement in progress; what was finished stays, and the next Apply continues.
//
// Errors to branch on: [*ConfigError], [*SchemaNameError], [ErrNoSchema], [ErrUnknownTables], [ErrNewerDatabase], Atlas's
// *migrate.StmtExecError for a migration that failed, whose chain ends in the driver's error, and the context's error.
// A migration that never got its table lock ends in a driver error with SQLSTATE 55P03.
func Apply(ctx context.Context, db *sql.DB, cfg Config) error {
	return applyFrom(ctx, db, cfg, schema.Migrations())
}

// applyFrom is Apply for any directory, so that tests can stop half-way or damage one.
func applyFrom(ctx context.Context, db *sql.DB, cfg Config, source fs.FS) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	dir, err := directory(source)
	if err != nil {
		return err
	}
	return exclusively(ctx, db, cfg, func(conn *sql.Conn, name string) error {
		if err := ensureRevisions(ctx, conn); err != nil {
			return err
		}
		r := &runner{cfg: cfg, conn: conn, dir: dir}
		files, err := r.pending(ctx)
		if err != nil {
			return err
		}
		for _, file := range files {
			start := time.Now()
			if err := r.run(ctx, file); err != nil {
				return fmt.Errorf("migrator: applying %s: %w", file.Name(), err)
			}
			cfg.Logger.InfoContext(ctx, "migration applied", "file", file.Name(), "schema", name,
				"elapsed", time.Since(start).Round(time.Millisecond))
		}
		return nil
	})
}

// pending returns the files that are not or not fully applied, in order.
func (r *runner) pending(ctx context.Context) ([]migrate.File, error) {
	done, err := revisions{r.conn}.ReadRevisions(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrator: %w", err)
	}
	if err := refuseNewer(done, r.dir); err != nil {
		return nil, err
	}
	var opts []migrate.ExecutorOption
	if len(done) == 0 && r.cfg.Baseline != "" {
		opts = append(opts, migrate.WithBaselineVersion(r.cfg.Baseline))
	}
	executor, err := r.executor(r.conn, revisions{r.conn}, opts...)
	if err != nil {
		return nil, err
	}
	files, err := executor.Pending(ctx)
	var unclean *migrate.NotCleanError
	switch {
	case errors.Is(err, migrate.ErrNoPendingFiles):
		return nil, nil
	case errors.As(err, &unclean):
		return nil, ErrUnknownTables
	case err != nil:
		return nil, fmt.Errorf("migrator: finding pending migrations: %w", err)
	}
	return files, nil
}

// refuseNewer keeps an old binary from reporting success on tables whose form it does not know.
func refuseNewer(done []*migrate.Revision, dir migrate.Dir) error {
	files, err := dir.Files()
	if err != nil {
		return fmt.Errorf("migrator: reading migrations: %w", err)
	}
	if len(done) > 0 && len(files) > 0 && done[len(done)-1].Version > files[len(files)-1].Version() {
		return ErrNewerDatabase
	}
	return nil
}

// target is Atlas's driver with a narrower question about what is in the way: other tables of the schema are none of
// our business, and inspecting all of them, as Atlas would, may take long or fail.
type target struct {
	migrate.Driver
	q querier
}

// CheckClean reports an outbox or inbox table that no revision accounts for.
func (t target) CheckClean(ctx context.Context, _ *migrate.TableIdent) error {
	var found bool
	const query = `SELECT to_regclass('outbox') IS NOT NULL OR to_regclass('inbox') IS NOT NULL`
	if err := t.q.QueryRowContext(ctx, query).Scan(&found); err != nil {
		return fmt.Errorf("looking for existing tables: %w", err)
	}
	if found {
		return &migrate.NotCleanError{Reason: "outbox or inbox exists"}
	}
	return nil
}

func (r *runner) executor(q querier, store migrate.RevisionReadWriter, opts ...migrate.ExecutorOption) (*migrate.Executor, error) {
	drv, err := postgres.Open(q)
	if err != nil {
		return nil, fmt.Errorf("migrator: reading the server's settings: %w", err)
	}
	opts = append(opts, migrate.WithOperatorVersion("satchel "+schema.Version))
	executor, err := migrate.NewExecutor(target{drv, q}, r.dir, store, opts...)
	if err != nil {
		return nil, fmt.Errorf("migrator: %w", err)
	}
	return executor, nil
}
