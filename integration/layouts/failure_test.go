package layouts

import (
	"testing"

	"github.com/satchel-go/satchel/schema/migrator"
)

// A file that cannot get its table lock changes nothing, and can be applied again.
func TestBusyTable(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		const first = 20260201000001
		name, db := newDatabase(t)
		if err := with.up(testContext(t), t, address(t, name, ""), version1); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, db, "public")
		reader, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		execSQL(t, reader, `LOCK TABLE outbox IN ACCESS SHARE MODE`)
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); state(err) != "55P03" {
			t.Fatalf("%v, want SQLSTATE 55P03", err)
		}
		if err := reader.Rollback(); err != nil {
			t.Fatal(err)
		}
		if after := fingerprint(t, db, "public"); after != before {
			t.Errorf("the failed file changed something:\n%s", after)
		}
		with.goOn(t, address(t, name, ""), first)
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
			t.Fatal(err)
		}
		verify(t, db, "public")
	})
}

// The remains of an interrupted index build stop the migration before an old index goes.
func TestInvalidIndex(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		const gate = 20260201000007
		name, db := newDatabase(t)
		if err := with.up(testContext(t), t, address(t, name, ""), lastBuild); err != nil {
			t.Fatal(err)
		}
		execSQL(t, db, `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'idx_outbox_claim'::regclass`)
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); state(err) != "55000" {
			t.Fatalf("%v, want the gate to fail", err)
		}
		if n := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relname = 'idx_outbox_pending'`); n != 1 {
			t.Error("an old index is gone")
		}
		execSQL(t, db, `REINDEX INDEX CONCURRENTLY idx_outbox_claim`)
		with.goOn(t, address(t, name, ""), gate)
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
			t.Fatal(err)
		}
		verify(t, db, "public")
	})
}

// A build that is interrupted leaves an INVALID index, which has to go before the file is applied again.
func TestInterruptedBuild(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		const build = 20260201000003
		name, db := newDatabase(t)
		if err := with.up(testContext(t), t, address(t, name, ""), backfill); err != nil {
			t.Fatal(err)
		}
		writer, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		execSQL(t, writer, insertV1)
		done := make(chan error, 1)
		go func() { done <- with.up(testContext(t), t, address(t, name, ""), newest(t)) }()
		waitFor(t, db, `SELECT EXISTS (SELECT 1 FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname = 'idx_outbox_claim' AND NOT indisvalid)`)
		execSQL(t, db, `SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()`)
		if err := <-done; state(err) != "57014" {
			t.Fatalf("%v, want a cancelled statement", err)
		}
		if err := writer.Commit(); err != nil {
			t.Fatal(err)
		}
		with.goOn(t, address(t, name, ""), build)
		execSQL(t, db, `DROP INDEX CONCURRENTLY idx_outbox_claim`)
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
			t.Fatal(err)
		}
		verify(t, db, "public")
	})
}

// An old set of files on newer tables does nothing.
func TestOlderFilesOnNewerTables(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	if err := tools[0].up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
		t.Fatal(err)
	}
	if results, err := newGoose(t, address(t, name, ""), goosePart(t, backfill)).Up(testContext(t)); err != nil || len(results) != 0 {
		t.Errorf("%v %v", results, err)
	}
	if err := migrator.Verify(testContext(t), db, migrator.Config{}); err != nil {
		t.Error(err)
	}
}
