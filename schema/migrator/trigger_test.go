package migrator

import (
	"context"
	"database/sql"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// listener is a connection that listens on the outbox channel.
func listener(t *testing.T, db *sql.DB) *pgx.Conn {
	t.Helper()
	cfg := server(t)
	cfg.Database = value[string](t, db, `SELECT current_database()`)
	conn, err := pgx.ConnectConfig(testContext(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the database is dropped next, by force
	if _, err := conn.Exec(testContext(t), `LISTEN transactional_outbox_channel`); err != nil {
		t.Fatal(err)
	}
	return conn
}

// notified counts the notifications that have arrived up to now: a marker of our own, sent after them, ends the count.
func notified(t *testing.T, db *sql.DB, conn *pgx.Conn) int {
	t.Helper()
	const marker = "marker"
	execSQL(t, db, `SELECT pg_notify('transactional_outbox_channel', $1)`, marker)
	for n := 0; ; n++ {
		got, err := conn.WaitForNotification(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if got.Payload == marker {
			return n
		}
		if got.Payload != "" {
			t.Errorf("payload %q, want an empty one", got.Payload)
		}
	}
}

const insertThree = `INSERT INTO outbox (carrier_id, event_type, destination, destination_type, payload)
	SELECT gen_random_uuid(), 'e', 'd', 'KAFKA', '1' FROM generate_series(1, 3)`

func TestNotifiesOnlySleepersAndOncePerTransaction(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	conn := listener(t, db)

	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 0 {
		t.Errorf("%d notifications without a relay", n)
	}
	execSQL(t, db, `INSERT INTO outbox_relay (owner) VALUES ('awake')`)
	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 0 {
		t.Errorf("%d notifications while the relay is awake", n)
	}
	execSQL(t, db, `INSERT INTO outbox_relay (owner, asleep) VALUES ('asleep', true)`)
	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 1 {
		t.Errorf("%d notifications for a sleeping relay, want 1", n)
	}
	tx, err := db.BeginTx(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, tx, insertThree)
	execSQL(t, tx, insertThree)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := notified(t, db, conn); n != 1 {
		t.Errorf("%d notifications for a transaction of two statements, want 1", n)
	}
	if err := DisableNotify(testContext(t), db, Config{}); err != nil {
		t.Fatal(err)
	}
	execSQL(t, db, insertThree)
	if n := notified(t, db, conn); n != 0 {
		t.Errorf("%d notifications with the trigger disabled", n)
	}
}

// A publisher with the fewest rights and the strangest surroundings gets its row in, and the relay is woken.
func TestTriggerNeverFailsAPublisher(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, `INSERT INTO messaging.outbox_relay (owner, asleep) VALUES ('asleep', true)`)
	execSQL(t, db, `GRANT USAGE ON SCHEMA messaging TO `+role+`; GRANT INSERT ON messaging.outbox TO `+role+`;
		GRANT USAGE ON SEQUENCE messaging.outbox_id_seq TO `+role+`; GRANT CREATE ON SCHEMA public TO `+role)
	conn := listener(t, db)
	insert := strings.Replace(insertThree, "outbox", "messaging.outbox", 1)

	publisher := connectAs(t, db, role, nil)
	publisher.SetMaxOpenConns(1) // everything below happens in one session
	if _, err := publisher.ExecContext(testContext(t), `SELECT * FROM messaging.outbox_relay`); !hasSQLState(err, "42501") {
		t.Fatalf("the role has more rights than the test means: %v", err)
	}
	for _, surroundings := range []string{
		`SELECT 1`,
		`SET search_path = ''`,
		`CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile function'; END $$`,
		`SET search_path = public, pg_catalog`,
		`CREATE TABLE public.outbox_relay (asleep text)`,
		`CREATE TEMP TABLE outbox_relay (other int)`,
		`DROP TABLE pg_temp.outbox_relay`,
		`CREATE FUNCTION public.spy() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$`,
		`CREATE TEMP VIEW outbox_relay AS SELECT public.spy() AS asleep`,
		`SET search_path = pg_temp, public`,
	} {
		if _, err := publisher.ExecContext(testContext(t), surroundings); err != nil {
			t.Fatalf("%s: %v", surroundings, err)
		}
		if _, err := publisher.ExecContext(testContext(t), insert); err != nil {
			t.Errorf("after %q: %v", surroundings, err)
			continue
		}
		if n := notified(t, db, conn); n != 1 {
			t.Errorf("after %q: %d notifications, want 1", surroundings, n)
		}
	}
}

func TestTriggerSurvivesDumpAndRestore(t *testing.T) {
	t.Parallel()
	source := newDatabase(t)
	apply(t, source, Config{Schema: "messaging"})
	execSQL(t, source, `INSERT INTO messaging.outbox_relay (owner, asleep) VALUES ('asleep', true)`)
	execSQL(t, source, strings.Replace(insertThree, "outbox", "messaging.outbox", 1))

	restored := newDatabase(t)
	execSQL(t, restored, `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile function'; END $$`)
	file := t.TempDir() + "/dump"
	run(t, "pg_dump", "--format=custom", "--file="+file, "--dbname="+address(t, source))
	run(t, "pg_restore", "--exit-on-error", "--dbname="+address(t, restored), file)
	if err := Verify(testContext(t), restored, Config{Schema: "messaging"}); err != nil {
		t.Error(err)
	}
	conn := listener(t, restored)
	publisher := connectAs(t, restored, "", map[string]string{"search_path": ""})
	execSQL(t, publisher, strings.Replace(insertThree, "outbox", "messaging.outbox", 1))
	if n := notified(t, restored, conn); n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
	if n := value[int](t, restored, `SELECT count(*) FROM messaging.outbox`); n != 6 {
		t.Errorf("%d rows, want 6", n)
	}
}

// PostgreSQL cannot notify in a transaction that is prepared; the trigger tries only while a relay sleeps.
func TestTwoPhaseCommit(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	if value[string](t, db, `SHOW max_prepared_transactions`) == "0" {
		t.Fatal("the server was started with max_prepared_transactions = 0: run the tests by make test")
	}
	name := randomName(t)
	prepare := func() error {
		conn, err := db.Conn(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := discard(conn); err != nil {
				t.Error(err)
			}
		}()
		execSQL(t, conn, `BEGIN`)
		execSQL(t, conn, insertThree)
		if _, err := conn.ExecContext(testContext(t), `PREPARE TRANSACTION '`+name+`'`); err != nil {
			return err
		}
		execSQL(t, conn, `COMMIT PREPARED '`+name+`'`)
		return nil
	}
	execSQL(t, db, `INSERT INTO outbox_relay (owner) VALUES ('r')`)
	if err := prepare(); err != nil {
		t.Errorf("nobody sleeps: %v", err)
	}
	execSQL(t, db, `UPDATE outbox_relay SET asleep = true`)
	var refused *pgconn.PgError
	if err := prepare(); !errors.As(err, &refused) || refused.Code != "0A000" {
		t.Errorf("a relay sleeps: %v, want SQLSTATE 0A000", err)
	}
	if err := DisableNotify(testContext(t), db, Config{}); err != nil {
		t.Fatal(err)
	}
	if err := prepare(); err != nil {
		t.Errorf("trigger disabled: %v", err)
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(testContext(t), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
