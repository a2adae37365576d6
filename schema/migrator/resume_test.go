package migrator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ariga.io/atlas/sql/migrate"
)

// interruptBuild leaves an INVALID index behind: the build waits for an older transaction until it is cancelled.
func interruptBuild(t *testing.T, db querier, statement string) {
	t.Helper()
	_, err := db.ExecContext(testContext(t), statement)
	if !hasSQLState(err, "57014") {
		t.Fatalf("the build was not interrupted: %v", err)
	}
}

func TestInterruptedIndexBuildIsRepeated(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	applyUpTo(t, db, "20260201000002")

	writer, err := db.BeginTx(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, writer, insertV1, "open")

	// The migrator itself is interrupted while it builds.
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan error, 1)
	go func() { done <- Apply(ctx, db, Config{}) }()
	waitFor(t, db, `SELECT EXISTS (SELECT 1 FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname = 'idx_outbox_claim' AND NOT indisvalid)`)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("Apply: %v, want context.Canceled", err)
	}
	waitFor(t, db, `SELECT NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index)`)
	var drift *DriftError
	if err := Verify(testContext(t), db, Config{}); !errors.As(err, &drift) || !strings.Contains(err.Error(), "index idx_outbox_claim is INVALID") {
		t.Fatalf("Verify: %v, want the INVALID index", err)
	}
	if len(drift.Pending) == 0 || drift.Pending[0] != "20260201000003_build_claim_index.sql" {
		t.Errorf("pending: %v", drift.Pending)
	}
	// A build that another hand has interrupted, for a later file.
	conn, err := db.Conn(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, conn, `SET statement_timeout = '300ms'`)
	interruptBuild(t, conn, `CREATE INDEX CONCURRENTLY idx_outbox_published_settled ON outbox (id)`)
	if err := discard(conn); err != nil {
		t.Fatal(err)
	}
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	apply(t, db, Config{})
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}
}

// Without the migrator nobody removes an INVALID index, so the files themselves must stop before the old indexes go.
func TestGateStopsAtAnInvalidIndex(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	applyUpTo(t, db, "20260201000006")
	execSQL(t, db, `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'idx_outbox_dead_letter_settled'::regclass`)
	err := Apply(testContext(t), db, Config{})
	var failed *migrate.StmtExecError
	if !errors.As(err, &failed) || failed.Version != "20260201000007" || !hasSQLState(err, "55000") {
		t.Fatalf("Apply: %v, want the gate to fail", err)
	}
	if n := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relname IN ('idx_outbox_pending', 'idx_outbox_dead_letter')`); n != 2 {
		t.Errorf("%d of 2 old indexes are left", n)
	}
	execSQL(t, db, `REINDEX INDEX CONCURRENTLY idx_outbox_dead_letter_settled`) // what the hint says
	apply(t, db, Config{})
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}
}

func TestBusyTableIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	applyUpTo(t, db, version1)
	reader, err := db.BeginTx(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, reader, `LOCK TABLE outbox IN ACCESS SHARE MODE`)

	err = Apply(testContext(t), db, Config{LockAttempts: 1})
	if !hasSQLState(err, sqlstateLockNotAvailable) {
		t.Fatalf("Apply with one attempt: %v, want SQLSTATE 55P03", err)
	}
	if n := value[int](t, db, `SELECT count(*) FROM satchel_revisions`); n != 1 {
		t.Errorf("%d revisions, want that of version 1: the failed file left nothing", n)
	}
	ctx, cancel := context.WithTimeout(testContext(t), 1500*time.Millisecond)
	defer cancel()
	if err := Apply(ctx, db, Config{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Apply until the deadline: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- Apply(testContext(t), db, Config{}) }()
	waitFor(t, db, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'outbox'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted)`)
	// An insert that queued behind the migration gets through while the reader still stands in its way.
	execSQL(t, db, insertV1, "queued")
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A file outside a transaction continues at the statement that failed.
func TestStatementsOutsideATransactionResume(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	const name = "20260101000002_two_steps.sql"
	dir := upTo(t, version1).(fstest.MapFS)
	text := "-- atlas:txmode none\n\nCREATE TABLE once (id int);\nCREATE TABLE once_more (id int REFERENCES missing);\n"
	dir[name] = &fstest.MapFile{Data: []byte(text)}
	if err := applyFrom(testContext(t), db, Config{}, rehash(t, dir)); !hasSQLState(err, "42P01") {
		t.Fatalf("want an undefined table, got %v", err)
	}
	if got := value[string](t, db, `SELECT applied || '/' || total || ' ' || (error <> '') FROM satchel_revisions ORDER BY version DESC LIMIT 1`); got != "1/2 true" {
		t.Errorf("recorded %s", got)
	}
	dir[name] = &fstest.MapFile{Data: []byte(strings.Replace(text, " REFERENCES missing", "", 1))}
	if err := applyFrom(testContext(t), db, Config{}, rehash(t, dir)); err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until a query answers true.
func waitFor(t *testing.T, q querier, query string) {
	t.Helper()
	ctx := testContext(t)
	for !value[bool](t, q, query) {
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			t.Fatalf("never true: %s", query)
		}
	}
}
