package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	_ "github.com/lib/pq" // for the second driver

	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

// A context that ends anywhere between the business write and the commit: entry and business row exist both or neither,
// and a publisher that got an error has published nothing.
func TestCancelledAnywhere(t *testing.T) {
	s := newScene(t)
	overPgx, err := lab.NewPublisher()
	if err != nil {
		t.Fatal(err)
	}
	pq, err := sql.Open("postgres", s.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pq.Close() }()
	stdlib := s.db.SQL(t)
	overSQL, err := sqltx.NewPublisher(sqltx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(ctx context.Context, e outbox.Entry, n int) error{
		"pgx": func(ctx context.Context, e outbox.Entry, _ int) error {
			_, err := overPgx.Write(ctx, s.pool, nil, e)
			return err
		},
		"pgx through database/sql": func(ctx context.Context, e outbox.Entry, n int) error {
			return writeSQL(ctx, stdlib, overSQL, e, n)
		},
		"pq": func(ctx context.Context, e outbox.Entry, n int) error { return writeSQL(ctx, pq, overSQL, e, n) },
	} {
		began := time.Now()
		for n := range 5 {
			if err := write(t.Context(), lab.Entry(name, -1-n), -1-n); err != nil {
				t.Fatal(err)
			}
		}
		usual := time.Since(began) / 5
		cancelled := 0
		for n := range lab.Sized(70, 700) {
			ctx, cancel := context.WithTimeout(context.Background(), rand.N(2*usual))
			err := write(ctx, lab.Entry(name, n), n)
			cancel()
			there := lab.Value[bool](t, s.pool, `SELECT EXISTS (SELECT FROM business WHERE aggregate = $1 AND n = $2)`, name, n)
			if err == nil && !there {
				t.Errorf("%s: entry %d was committed and is not there", name, n)
			}
			if err != nil {
				cancelled++ // a commit whose answer was not awaited may have happened all the same
			}
		}
		t.Logf("%s: %d cancelled", name, cancelled)
	}
	s.start("relay", orders{})
	s.drained()
	s.journal.Check(t, s.pool, 0) // includes that both tables agree
}

// writeSQL is lab.Publisher.Write for database/sql.
func writeSQL(ctx context.Context, db *sql.DB, pub *outbox.Publisher[*sql.Tx], e outbox.Entry, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	if _, err := tx.ExecContext(ctx, `INSERT INTO business VALUES ($1, $2)`, e.AggregateID, n); err != nil {
		return err
	}
	id, err := pub.Publish(ctx, tx, e)
	if err != nil && id != 0 {
		return errors.Join(err, fmt.Errorf("and yet the id is %d", id))
	}
	if err == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// After the end of its context a publish must not report an id, whatever the driver has noticed so far.
func TestPublishAfterCancel(t *testing.T) {
	s := newScene(t)
	pub, err := sqltx.NewPublisher(sqltx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	pq, err := sql.Open("postgres", s.db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pq.Close() }()
	for _, db := range []*sql.DB{s.db.SQL(t), pq} {
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if id, err := pub.Publish(ctx, tx, lab.Entry("a", 1)); err == nil || id != 0 {
				t.Errorf("published as %d after the cancel: %v", id, err)
			}
			_ = tx.Rollback() // done already, or not yet
		}
	}
	if n := lab.Value[int](t, s.pool, `SELECT count(*) FROM outbox`); n != 0 {
		t.Errorf("%d entries", n)
	}
}
