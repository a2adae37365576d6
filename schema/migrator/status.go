package migrator

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ariga.io/atlas/sql/migrate"

	"github.com/satchel-go/satchel/schema"
)

// Step is one migration and how far it got.
type Step struct {
	Version    string    // the digits that begin the file name
	File       string    // the file name
	Applied    int       // statements applied
	Total      int       // statements in the file; 0 while it was never begun or was adopted by a baseline
	AppliedAt  time.Time // when it was last worked on; zero if never or adopted
	Adopted    bool      // taken as applied because of Config.Baseline
	LastError  string    // the server's message if the last attempt failed outside a transaction
	wasStarted bool
}

// Done reports whether nothing of the migration is left to do.
func (s Step) Done() bool { return s.Adopted || s.wasStarted && s.Applied == s.Total }

// errNoRevisions means that Apply never ran here, or that the role may not see what it did.
var errNoRevisions = errors.New("migrator: no table of revisions")

// Status returns all migrations in order, each with what the database knows about it. On a database that Apply has not
// seen, no step is done. It reads only, and reports [ErrNewerDatabase] like Apply.
func Status(ctx context.Context, db *sql.DB, cfg Config) (steps []Step, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	err = reading(ctx, db, cfg, func(tx *sql.Tx) error {
		steps, err = readSteps(ctx, tx)
		if errors.Is(err, errNoRevisions) {
			steps, err = stepsOf(nil)
		}
		return err
	})
	return steps, err
}

func readSteps(ctx context.Context, q querier) ([]Step, error) {
	// Two questions: asking for the privilege on a table that does not exist is an error.
	for _, query := range []string{
		`SELECT to_regclass('` + RevisionsTable + `') IS NOT NULL`,
		`SELECT has_table_privilege('` + RevisionsTable + `', 'SELECT')`,
	} {
		var yes bool
		if err := q.QueryRowContext(ctx, query).Scan(&yes); err != nil {
			return nil, fmt.Errorf("migrator: looking for the table of revisions: %w", err)
		}
		if !yes {
			return nil, errNoRevisions
		}
	}
	done, err := revisions{q}.ReadRevisions(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrator: %w", err)
	}
	return stepsOf(done)
}

// stepsOf joins the embedded files with what was done to them.
func stepsOf(done []*migrate.Revision) ([]Step, error) {
	dir, err := directory(schema.Migrations())
	if err != nil {
		return nil, err
	}
	if err := refuseNewer(done, dir); err != nil {
		return nil, err
	}
	files, err := dir.Files()
	if err != nil {
		return nil, fmt.Errorf("migrator: reading migrations: %w", err)
	}
	byVersion := map[string]*migrate.Revision{}
	baseline := ""
	for _, rev := range done {
		byVersion[rev.Version] = rev
		if rev.Type.Has(migrate.RevisionTypeBaseline) {
			baseline = rev.Version
		}
	}
	steps := make([]Step, 0, len(files))
	for _, file := range files {
		step := Step{Version: file.Version(), File: file.Name(), Adopted: file.Version() <= baseline}
		if rev := byVersion[step.Version]; rev != nil && !step.Adopted {
			step.wasStarted, step.Applied, step.Total = true, rev.Applied, rev.Total
			step.AppliedAt, step.LastError = rev.ExecutedAt, rev.Error
		}
		steps = append(steps, step)
	}
	return steps, nil
}
