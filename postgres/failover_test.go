package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// TestReadOnlyServer: connections to a server that takes no writes are dropped, so that
// the pool finds the one that does, without a restart.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	d := pgtest.Disposable(t)
	p := placed{d, d.Pool(t, pgtest.Mapped), pgtest.Mapped}
	store := openStore(t, p)
	s := store.Open(relay.SessionOptions{Owner: "one"})
	if _, err := s.Claim(ctx, request(1)); err != nil {
		t.Fatal(err)
	}
	admin := d.Conn(t, "")
	const sessions = ` FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	for _, sql := range []string{
		"SET default_transaction_read_only = off",
		"ALTER DATABASE " + d.Name + " SET default_transaction_read_only = on",
		"SELECT pg_terminate_backend(pid)" + sessions,
	} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = s.Claim(ctx, request(1)) // may find the terminated connection
	for range 3 {
		_, err := s.Claim(ctx, request(1))
		expectCode(t, "claim", err, "25006", true)
	}
	for what, err := range everyCall(ctx, store) {
		if what != "next due" && what != "deliver" { // the first reads, the second writes if the entry is there
			expectCode(t, what, err, "25006", true)
		}
	}
	if _, err := admin.Exec(ctx, "ALTER DATABASE "+d.Name+" RESET default_transaction_read_only"); err != nil {
		t.Fatal(err)
	}
	id := publishing(t, p, alpha(""))[0]
	batch, err := s.Claim(ctx, request(1))
	if err != nil || len(batch.Records) != 1 || batch.Records[0].ID != id {
		t.Errorf("claim after the failover: %v, %v", batch.Records, err)
	}
}

// TestTerminatedConnections: what a terminated connection was doing fails in a way that
// can be tried again, nothing of it is left, and the next call has a new connection.
func TestTerminatedConnections(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	publishing(t, p, alpha("a"), alpha("a"))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	admin := p.Conn(t, "")
	terminate := func() {
		t.Helper()
		_, err := admin.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err != nil {
			t.Fatal(err)
		}
	}
	retry := func(what string, call func() error) {
		t.Helper()
		var err error
		for range p.pool.Config().MaxConns + 1 { // idle connections may all be dead
			if err = call(); err == nil {
				return
			}
			if !fault.Retryable(err) {
				t.Fatalf("%s: not retryable: %v", what, err)
			}
		}
		t.Fatalf("%s: %v", what, err)
	}
	var batch relay.Batch
	claim := func() (err error) {
		batch, err = s.Claim(ctx, request(10))
		return err
	}
	retry("claim", claim)
	terminate() // between claim and settle
	retry("settle", func() error {
		recorded, err := s.Settle(ctx, []relay.Outcome{{ID: batch.Records[0].ID, Lease: batch.Lease, Kind: relay.Published, AggregateID: "a"}}, nil)
		if err == nil && !recorded[0] {
			return errors.New("not recorded")
		}
		return err
	})

	// In the middle of a claim, which waits for a lock.
	if _, err := admin.Exec(ctx, "BEGIN; LOCK TABLE "+pgx.Identifier{p.schema, "outbox"}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- claim() }()
	for waiting := false; !waiting; time.Sleep(5 * time.Millisecond) {
		err := admin.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
	terminate()
	if err := <-failed; !fault.Retryable(err) {
		t.Errorf("the claim that was terminated: %v", err)
	}
	if _, err := admin.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	retry("claim", claim)
	if len(batch.Records) != 1 {
		t.Errorf("claimed %d entries, want the second", len(batch.Records))
	}
}

// TestNothingHeldWhileHandling: between claim and settlement no connection is in use
// and no transaction is open.
func TestNothingHeldWhileHandling(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	p := place(t, pgtest.Mapped)
	publishing(t, p, alpha("a"))
	s := openStore(t, p).Open(relay.SessionOptions{Owner: "one"})
	batch, err := s.Claim(ctx, request(10))
	if err != nil || len(batch.Records) != 1 {
		t.Fatalf("claim: %v, %v", batch, err)
	}
	if n := p.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections are in use", n)
	}
	var open int
	err = p.Conn(t, "").QueryRow(context.WithoutCancel(ctx), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'`).Scan(&open)
	if err != nil || open != 0 {
		t.Errorf("%d transactions are open: %v", open, err)
	}
}
