package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// libraries are the transactions that an application can have.
var libraries = []struct {
	name  string
	write writer
}{
	{"pgx", pgxWriter}, {"sql over pgx", sqlWriter(openPgx)}, {"sql over pq", sqlWriter(openPq(""))}, {"sqlx over pgx", sqlxWriter(openPgx)},
}

// each runs a test with transactions of every library. exec runs a statement in one.
func each(t *testing.T, test func(t *testing.T, p placed, begin func() storetest.Tx)) {
	t.Helper()
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := place(t, pgtest.Mapped)
			open, _ := l.write(t, p)
			test(t, p, func() storetest.Tx {
				tx, err := open(testContext(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
				return tx
			})
		})
	}
}

// exec runs a statement of the application in a transaction of any library.
func exec(ctx context.Context, tx storetest.Tx, sql string) error {
	type executor interface {
		execute(ctx context.Context, sql string) error
	}
	return tx.(executor).execute(ctx, sql)
}

func (t transaction[Tx]) execute(ctx context.Context, sql string) error { return t.exec(ctx, sql) }

// expectCode checks that err is a failure with an SQLSTATE.
func expectCode(t *testing.T, what string, err error, code string, retryable bool) {
	t.Helper()
	var failure *fault.Persistence
	if !errors.As(err, &failure) {
		t.Errorf("%s: %v, want a *fault.Persistence", what, err)
		return
	}
	if failure.Code != code || failure.Retryable() != retryable {
		t.Errorf("%s: SQLSTATE %q, retryable %v, want %q, %v: %v", what, failure.Code, failure.Retryable(), code, retryable, err)
	}
}

func nothing(context.Context) error { return nil }

// TestFailedTransaction: after a failure in it a transaction takes nothing, and says why.
func TestFailedTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		tx := begin()
		if err := exec(ctx, tx, "SELECT 1/0"); err == nil {
			t.Fatal("a division by zero went well")
		}
		_, err := tx.PublishAll(ctx, alpha("a"))
		expectCode(t, "publish", err, "25P02", false)
		_, err = tx.PublishAll(ctx, alpha("a"), alpha("b"))
		expectCode(t, "publish of two", err, "25P02", false)
		ran, err := tx.Once(ctx, inbox.Message{ID: "m", Source: "s"}, nothing)
		expectCode(t, "once", err, "25P02", false)
		if ran {
			t.Error("work ran in a failed transaction")
		}
		expectEmpty(t, p)
	})
}

func expectEmpty(t *testing.T, p placed) {
	t.Helper()
	rows, err := newTable(p.pool, p.schema).Rows(testContext(t))
	if err != nil || len(rows) > 0 {
		t.Errorf("%d entries are stored: %v", len(rows), err)
	}
}

// TestIsolationLevels: a message or an aggregate that another transaction touched after
// the snapshot is a failure to be tried again, not a duplicate and not a silent success.
func TestIsolationLevels(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		m := inbox.Message{ID: "m", Source: "s"}
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			m.ID += "m"
			tx, other := begin(), begin()
			for _, sql := range []string{"SET TRANSACTION ISOLATION LEVEL " + level, "SELECT count(*) FROM pg_class"} {
				if err := exec(ctx, tx, sql); err != nil {
					t.Fatal(err)
				}
			}
			if ran, err := other.Once(ctx, m, nothing); !ran || err != nil {
				t.Fatalf("once: %v, %v", ran, err)
			}
			if err := other.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.PublishAll(ctx, alpha("a"), alpha("a")); err != nil {
				t.Errorf("publish at %s: %v", level, err)
			}
			ran, err := tx.Once(ctx, m, nothing)
			expectCode(t, "once at "+level, err, "40001", true)
			if ran {
				t.Errorf("work ran at %s", level)
			}
			if err := tx.Commit(ctx); err == nil {
				t.Errorf("the transaction at %s committed", level)
			}
		}
		expectEmpty(t, p)
	})
}

// TestDeadlock: two transactions that record the same messages in opposite orders.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		one, two := begin(), begin()
		a, b := inbox.Message{ID: "a", Source: "s"}, inbox.Message{ID: "b", Source: "s"}
		_, err1 := one.Once(ctx, a, nothing)
		_, err2 := two.Once(ctx, b, nothing)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		blocked := make(chan error, 1)
		go func() {
			_, err := one.Once(ctx, b, nothing)
			if err != nil {
				_ = one.Rollback(ctx)
			}
			blocked <- err
		}()
		_, err := two.Once(ctx, a, nothing)
		if err != nil {
			_ = two.Rollback(ctx)
		}
		err = errors.Join(err, <-blocked) // one of them, no matter which
		expectCode(t, "once", err, "40P01", true)
	})
}

// TestTimeouts: what a role's time limits end can be tried again.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p placed, begin func() storetest.Tx) {
		ctx := testContext(t)
		holder := begin()
		if _, err := holder.Once(ctx, inbox.Message{ID: "m", Source: "s"}, nothing); err != nil {
			t.Fatal(err)
		}
		for setting, code := range map[string]string{"lock_timeout": "55P03", "statement_timeout": "57014"} {
			tx := begin()
			if err := exec(ctx, tx, "SET LOCAL "+setting+" = '50ms'"); err != nil {
				t.Fatal(err)
			}
			_, err := tx.Once(ctx, inbox.Message{ID: "m", Source: "s"}, nothing)
			expectCode(t, setting, err, code, true)
		}
		conn := p.Conn(t, "")
		if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE "+pgx.Identifier{p.schema, "outbox"}.Sanitize()); err != nil {
			t.Fatal(err)
		}
		tx := begin()
		if err := exec(ctx, tx, "SET LOCAL lock_timeout = '50ms'"); err != nil {
			t.Fatal(err)
		}
		_, err := tx.PublishAll(ctx, alpha(""))
		expectCode(t, "publish", err, "55P03", true)
	})
}

// TestClosedPool and TestServerGone: every call of the store fails as itself.
func TestClosedPool(t *testing.T) {
	t.Parallel()
	p := place(t, pgtest.Mapped)
	store := openStore(t, p)
	p.pool.Close()
	for what, err := range everyCall(testContext(t), store) {
		expectCode(t, what, err, "", false)
	}
}

func TestServerGone(t *testing.T) {
	t.Parallel()
	p := place(t, pgtest.Mapped, func(cfg *pgxpool.Config) { cfg.ConnConfig.Host, cfg.ConnConfig.Port = "127.0.0.1", 1 })
	for what, err := range everyCall(testContext(t), openStore(t, p)) {
		expectCode(t, what, err, "", true)
	}
}

// TestMissingRights: not retryable, and no name of a table or value in the text of the field.
func TestMissingTable(t *testing.T) {
	t.Parallel()
	d := pgtest.Disposable(t)
	d.Exec(t, "CREATE SCHEMA empty")
	p := placed{d, d.Pool(t, "empty"), "empty"}
	for what, err := range everyCall(testContext(t), openStore(t, p)) {
		expectCode(t, what, err, "42P01", false)
	}
}

// everyCall makes each call of a store once.
func everyCall(ctx context.Context, store *Store) map[string]error {
	s := store.Open(relay.SessionOptions{Owner: "one"}).(*session)
	o := relay.Outcome{ID: 1, Lease: 1, Kind: relay.Published}
	failed := map[string]error{}
	_, failed["claim"] = s.Claim(ctx, request(1))
	_, failed["settle"] = s.Settle(ctx, []relay.Outcome{o}, nil)
	_, failed["renew"] = s.Renew(ctx, []relay.LeaseID{1}, time.Minute)
	_, _, failed["next due"] = s.NextDue(ctx, request(1).Scope)
	_, failed["advertise"] = s.Advertise(ctx, relay.Advertisement{Stale: time.Minute})
	failed["retire"] = s.Retire(ctx)
	_, _, failed["deliver"] = s.DeliverTx(ctx, o, func(context.Context, any) error { return nil })
	_, failed["reclaim"] = store.Reclaim(ctx, 1, 1)
	_, failed["heal"] = store.Heal(ctx, 1)
	_, failed["delete published"] = store.DeletePublished(ctx, time.Hour, 1)
	_, failed["delete dead letters"] = store.DeleteDeadLetters(ctx, time.Hour, 1)
	_, failed["delete inbox"] = store.DeleteInbox(ctx, time.Hour, 1)
	return failed
}

// TestCancelledCall: a call that waits for a lock ends with its context.
func TestCancelledCall(t *testing.T) {
	t.Parallel()
	p := place(t, pgtest.Mapped)
	conn := p.Conn(t, "")
	if _, err := conn.Exec(testContext(t), "BEGIN; LOCK TABLE "+pgx.Identifier{p.schema, "outbox"}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	store := openStore(t, p)
	ctx, cancel := context.WithTimeout(testContext(t), 100*time.Millisecond)
	defer cancel()
	_, err := store.Open(relay.SessionOptions{Owner: "one"}).Claim(ctx, request(1))
	if !errors.Is(err, context.DeadlineExceeded) || !fault.Retryable(err) {
		t.Errorf("claim: %v", err)
	}
	if _, err := conn.Exec(testContext(t), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(relay.SessionOptions{Owner: "one"}).Claim(testContext(t), request(1)); err != nil {
		t.Errorf("claim afterwards: %v", err)
	}
}
