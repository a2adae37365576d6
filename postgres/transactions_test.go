package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
	"github.com/satchel-go/satchel/postgres/sqltx"
)

// TestOpenRows: while rows of the transaction are still to be read, pgx and lib/pq
// refuse a statement. It fails as a whole; no other connection is used instead.
func TestOpenRows(t *testing.T) {
	t.Parallel()
	t.Run("pgx", func(t *testing.T) {
		t.Parallel()
		ctx := testContext(t)
		p := place(t, pgtest.Mapped)
		tx, err := p.pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(ctx) }()
		rows, err := tx.Query(ctx, "SELECT generate_series(1, 1000)")
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		bound := pgxStatements(t, p.schema)(tx)
		_, err = bound.PublishAll(ctx, alpha(""))
		expectCode(t, "publish", err, "", false)
		_, err = bound.PublishAll(ctx, alpha(""), alpha(""))
		expectCode(t, "publish of two", err, "", false)
		_, err = bound.Once(ctx, inbox.Message{ID: "m", Source: "s"}, nothing)
		expectCode(t, "once", err, "", false)
		rows.Close()
		expectEmpty(t, p)
		if _, err := bound.PublishAll(ctx, alpha("")); err != nil {
			t.Errorf("publish after the rows were closed: %v", err)
		}
	})
	for name, open := range map[string]func(*testing.T, placed) *sql.DB{"sql over pgx": openPgx, "sql over pq": openPq("")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testOpenSQLRows(t, open)
		})
	}
}

// testOpenSQLRows accepts an error or, from a driver that reads ahead, success; but
// what was reported has to be what is stored.
func testOpenSQLRows(t *testing.T, open func(*testing.T, placed) *sql.DB) {
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	db := open(t, p)
	defer func() { _ = db.Close() }()
	pub, err := sqltx.NewPublisher(sqltx.Config{Schema: p.schema}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.QueryContext(ctx, "SELECT generate_series(1, 1000)") //nolint:rowserrcheck // left open on purpose
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	_, err = pub.Publish(ctx, tx, alpha(""))
	_ = rows.Close() //nolint:sqlclosecheck // only now
	var failure *fault.Persistence
	if err != nil && !errors.As(err, &failure) {
		t.Errorf("publish with open rows: %v, want a *fault.Persistence", err)
	}
	_ = tx.Rollback() // lib/pq may have ended it with its connection
	expectEmpty(t, p) // nothing went to another connection
}

// TestCancelledAnywhere cancels the context of an application's transaction at random
// points between its write, the publish and the commit: an entry is there if and only
// if the write is.
func TestCancelledAnywhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		began := time.Now()
		attempt(ctx, begin(), "uncancelled")
		usual := time.Since(began)
		for i := range 50 {
			bound, cancel := context.WithTimeout(ctx, rand.N(2*usual))
			tx := begin()
			attempt(bound, tx, fmt.Sprint(i))
			_ = tx.Rollback(ctx)
			cancel()
		}
		rows, err := newTable(p.pool, p.schema).Rows(ctx)
		if err != nil {
			t.Fatal(err)
		}
		published := map[string]bool{}
		for _, r := range rows {
			published[r.AggregateID] = true
		}
		found, err := p.pool.Query(ctx, "SELECT message_id FROM "+pgx.Identifier{p.schema, "inbox"}.Sanitize())
		if err != nil {
			t.Fatal(err)
		}
		written, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range written {
			if !published[id] {
				t.Errorf("transaction %s committed its write without its entry", id)
			}
			delete(published, id)
		}
		for id := range published {
			t.Errorf("transaction %s committed its entry without its write", id)
		}
		t.Logf("%d of 51 committed", len(written))
	})
}

// attempt is an application's transaction: a write, a publish, a commit.
func attempt(ctx context.Context, tx storetest.Tx, id string) {
	if _, err := tx.Once(ctx, inbox.Message{ID: id, Source: "write"}, nothing); err != nil {
		return
	}
	ids, err := tx.PublishAll(ctx, alpha(id))
	if (err == nil) != (len(ids) == 1) {
		panic("a publish returned both an id and an error, or neither")
	}
	if err != nil {
		return
	}
	_ = tx.Commit(ctx)
}

// TestMarkerRace: of two that record the same message at once, the second waits; when
// the first gives up, the second does the work.
func TestMarkerRace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		m := inbox.Message{ID: "m", Source: "s"}
		first, second := begin(), begin()
		if ran, err := first.Once(ctx, m, nothing); !ran || err != nil {
			t.Fatalf("once: %v, %v", ran, err)
		}
		var wait sync.WaitGroup
		wait.Go(func() {
			if ran, err := second.Once(ctx, m, nothing); !ran || err != nil {
				t.Errorf("the second: ran %v, %v", ran, err)
			}
		})
		time.Sleep(50 * time.Millisecond)
		if err := first.Rollback(ctx); err != nil {
			t.Error(err)
		}
		wait.Wait()
		if err := second.Commit(ctx); err != nil {
			t.Error(err)
		}
		third := begin()
		if ran, err := third.Once(ctx, m, nothing); ran || err != nil {
			t.Errorf("the third: ran %v, %v", ran, err)
		}
		if _, err := third.PublishAll(ctx, alpha("a")); err != nil {
			t.Errorf("publish after a duplicate: %v", err)
		}
		if err := third.Commit(ctx); err != nil {
			t.Errorf("commit after a duplicate: %v", err)
		}
	})
}
