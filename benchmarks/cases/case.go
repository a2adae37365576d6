// Package cases holds what is measured, one case per file.
//
// A case gets an [Env], makes databases of its own on the server, and emits
// measurements. It judges nothing: what must hold is package report's business.
package cases

import (
	"context"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/benchmarks/internal/lab"
	"github.com/satchel-go/satchel/benchmarks/report"
	"github.com/satchel-go/satchel/postgres"
)

// Env is what a case works with.
type Env struct {
	// URL is a database of the server, for a role that may create databases.
	URL string
	// Scale says how much to measure.
	Scale Scale
	// Emit takes a measurement in.
	Emit func(report.Measurement)
	// Logf tells what is going on.
	Logf func(format string, args ...any)
	// RelayCommand is the command line of a process that calls [RelayChild] with the
	// arguments that follow it.
	RelayCommand []string
}

// Case is one thing to measure.
type Case struct {
	Name string
	// About says in one sentence what is measured and how; it goes into the report.
	About string
	Run   func(ctx context.Context, e *Env) error
}

// All returns every case in the order in which they run.
func All() []Case {
	return []Case{claimCase, schemaCase, drainCase, orderedCase, kafkaCase, snapshotCase, publishCase, publishBatchCase, latencyCase, memoryCase}
}

// Select returns the cases whose names match.
func Select(pattern string) ([]Case, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var selected []Case
	for _, c := range All() {
		if re.MatchString(c.Name) {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no case matches %q", pattern)
	}
	return selected, nil
}

// bench is a database that holds the tables of one version.
type bench struct {
	*lab.Database
	pool  *pgxpool.Pool
	conn  *pgx.Conn // for preparations
	store *postgres.Store
}

// open makes a database of a version with a pool of n connections.
func (e *Env) open(ctx context.Context, version, n int) (*bench, error) {
	d, err := lab.Create(ctx, e.URL)
	if err != nil {
		return nil, err
	}
	b := &bench{Database: d}
	if err := b.prepare(ctx, version, n); err != nil {
		b.close(ctx)
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context, version, n int) (err error) {
	if b.conn, err = pgx.Connect(ctx, b.URL); err != nil {
		return err
	}
	if err := lab.Migrate(ctx, b.conn, version); err != nil {
		return err
	}
	if version >= lab.V3 { // as maintenance does daily: archiving goes to a partition of the day
		if _, err := b.conn.Exec(ctx, "SELECT outbox_archive_maintain(1, NULL)"); err != nil {
			return err
		}
	}
	if b.pool, err = b.Pool(ctx, n); err != nil {
		return err
	}
	b.store, err = postgres.NewStore(b.pool, postgres.Config{})
	return err
}

func (b *bench) close(ctx context.Context) {
	if b.pool != nil {
		b.pool.Close()
	}
	if b.conn != nil {
		_ = b.conn.Close(context.WithoutCancel(ctx))
	}
	_ = b.Close(ctx) // the server may be gone already
}

// exec runs statements for a preparation.
func (b *bench) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := b.conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
