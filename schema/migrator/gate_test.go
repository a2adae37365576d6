package migrator

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
)

// open says whether publishers look for sleepers.
func open(t *testing.T, db *sql.DB) bool {
	t.Helper()
	return value[bool](t, db, `SELECT pg_sequence_last_value('outbox_gate') IS NOT NULL`)
}

func TestGateIsOpenWhileSomebodySleeps(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	for _, step := range []struct {
		statement string
		want      bool
	}{
		{`SELECT 1`, false},
		{`INSERT INTO outbox_relay (owner) VALUES ('a'), ('b')`, false},
		{`UPDATE outbox_relay SET asleep = true WHERE owner = 'a'`, true},
		{`INSERT INTO outbox_relay (owner, asleep) VALUES ('b', true) ON CONFLICT (owner) DO UPDATE SET asleep = EXCLUDED.asleep`, true},
		{`UPDATE outbox_relay SET asleep = false WHERE owner = 'a'`, true},
		{`UPDATE outbox_relay SET heartbeat_at = now()`, true},
		{`DELETE FROM outbox_relay WHERE owner = 'a'`, true},
		{`DELETE FROM outbox_relay WHERE owner = 'b'`, false},
		{`INSERT INTO outbox_relay (owner, asleep) VALUES ('c', true), ('d', false)`, true},
		{`UPDATE outbox_relay SET asleep = NOT asleep`, true},
		{`UPDATE outbox_relay SET asleep = false`, false},
	} {
		execSQL(t, db, step.statement)
		if got := open(t, db); got != step.want {
			t.Errorf("after %s: open %v, want %v", step.statement, got, step.want)
		}
	}
}

// While one relay wakes, another falls asleep: whichever commits last, publishers see the sleeper.
func TestGateOfOneThatWakesAndOneThatFallsAsleep(t *testing.T) {
	t.Parallel()
	const wake, sleep = `UPDATE outbox_relay SET asleep = false WHERE owner = 'a'`, `UPDATE outbox_relay SET asleep = true WHERE owner = 'b'`
	for _, order := range [][2]string{{wake, sleep}, {sleep, wake}} {
		db := newDatabase(t)
		apply(t, db, Config{})
		execSQL(t, db, `INSERT INTO outbox_relay (owner, asleep) VALUES ('a', true), ('b', false)`)
		first, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		execSQL(t, first, order[0])
		waiter := connectAs(t, db, "", map[string]string{"application_name": "second"})
		waiter.SetMaxOpenConns(1)
		second := make(chan error, 1)
		go func() {
			_, err := waiter.ExecContext(testContext(t), order[1])
			second <- err
		}()
		// Idle if it does not wait, as it should.
		waitFor(t, db, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'second'
			AND query LIKE 'UPDATE%' AND (wait_event = 'advisory' OR state = 'idle'))`)
		if err := first.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-second; err != nil {
			t.Fatal(err)
		}
		if !open(t, db) {
			t.Errorf("closed after %q", order)
		}
		execSQL(t, db, `UPDATE outbox_relay SET asleep = false`)
		if open(t, db) {
			t.Errorf("open after all woke, first %q", order)
		}
	}
}

// A sequence is not rolled back. What was closed in error is open again with the sleeper's next heartbeat, and a gate
// left open notifies nobody.
func TestGateAfterARollback(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	undone := func(statement string) {
		tx, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		execSQL(t, tx, statement)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	conn := listener(t, db)
	undone(`INSERT INTO outbox_relay (owner, asleep) VALUES ('a', true)`)
	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 0 {
		t.Errorf("%d notifications for a relay that never was", n)
	}
	execSQL(t, db, `INSERT INTO outbox_relay (owner, asleep) VALUES ('a', true)`)
	undone(`DELETE FROM outbox_relay`)
	execSQL(t, db, `UPDATE outbox_relay SET asleep = true, heartbeat_at = now()`)
	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 1 {
		t.Errorf("%d notifications after a heartbeat, want 1", n)
	}
}

// The right to read the gate belongs to everybody, but a restore can lose it.
func TestGateThatAPublisherMayNotRead(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, grants(t, "publisher.sql", role))
	execSQL(t, db, `REVOKE ALL ON SEQUENCE messaging.outbox_gate FROM PUBLIC; INSERT INTO messaging.outbox_relay (owner, asleep) VALUES ('a', true)`)
	conn := listener(t, db)
	publisher := connectAs(t, db, role, nil)
	if _, err := publisher.ExecContext(testContext(t), `SELECT last_value FROM messaging.outbox_gate`); !hasSQLState(err, "42501") {
		t.Fatalf("the role has more rights than the test means: %v", err)
	}
	execSQL(t, publisher, strings.Replace(insertThree, "outbox", "messaging.outbox", 1))
	if n := notified(t, db, conn); n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
}

// Without its trigger the gate stays closed and no sleeper is ever told; deployments that need no notification can do
// without the trigger on outbox, but not without this one.
func TestVerifyFindsAGateThatNobodyKeeps(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	execSQL(t, db, `ALTER TABLE outbox_relay DISABLE TRIGGER transactional_outbox_gate`)
	var drift *DriftError
	err := Verify(testContext(t), db, Config{AllowDisabledNotify: true})
	if !errors.As(err, &drift) || len(drift.Differences) != 1 || drift.Differences[0].Name != "outbox_relay.transactional_outbox_gate" {
		t.Errorf("Verify: %v, want the disabled trigger", err)
	}
}
