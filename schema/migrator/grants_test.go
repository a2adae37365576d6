package migrator

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// grants returns the SQL of a file in schema/grants, for a role.
func grants(t *testing.T, file, role string) string {
	t.Helper()
	text, err := os.ReadFile("../grants/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("app_owner", role, "app_publisher", role, "app_relay", role).Replace(string(text))
}

// The document shows the files that the tests below run, and no other rights.
func TestTheDocumentShowsTheGrants(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("../grants")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(document)
	for _, file := range files {
		text, err := os.ReadFile("../grants/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		block := "```sql\n" + string(text) + "```\n"
		if !strings.Contains(rest, block) {
			t.Errorf("docs/migration.md does not show %s as it is", file.Name())
		}
		rest = strings.Replace(rest, block, "", 1)
	}
	if other := regexp.MustCompile(`(?m)^GRANT .*$`).FindString(rest); other != "" {
		t.Errorf("docs/migration.md shows a right that no file has: %s", other)
	}
}

// One role makes the tables and grants the rights, neither of the others can change a table.
func TestOwnerAndRuntimeRoles(t *testing.T) {
	t.Parallel()
	owner, publisher, relay := newRole(t), newRole(t), newRole(t)
	db := newDatabase(t)
	execSQL(t, db, grants(t, "owner.sql", owner))
	owning := connectAs(t, db, owner, nil)
	apply(t, owning, Config{Schema: "messaging"})
	execSQL(t, owning, grants(t, "publisher.sql", publisher))
	execSQL(t, owning, grants(t, "relay.sql", relay))
	for _, role := range []string{publisher, relay} {
		service := connectAs(t, db, role, map[string]string{"search_path": "messaging"})
		if err := Verify(testContext(t), service, Config{}); err != nil {
			t.Error(err)
		}
		execSQL(t, service, insertV1, "a")
		for _, statement := range []string{
			`ALTER TABLE outbox ADD COLUMN mine int`, `DROP TABLE inbox`, `TRUNCATE outbox`, `CREATE TABLE mine (id int)`,
			`ALTER TABLE outbox DISABLE TRIGGER ALL`, `DROP FUNCTION transactional_outbox_wake() CASCADE`, `SELECT * FROM satchel_revisions`,
		} {
			if _, err := service.ExecContext(testContext(t), statement); !hasSQLState(err, "42501") {
				t.Errorf("%s: %v, want SQLSTATE 42501", statement, err)
			}
		}
	}
	apply(t, owning, Config{Schema: "messaging"})
}

func TestGrantsOfAPublisher(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, grants(t, "publisher.sql", role))
	service := connectAs(t, db, role, map[string]string{"search_path": "messaging"})
	if id := value[int](t, service, insertV1+` RETURNING id`, "a"); id != 1 {
		t.Errorf("id %d", id)
	}
	const once = `INSERT INTO inbox (message_id, source) VALUES ('m', 's') ON CONFLICT DO NOTHING`
	execSQL(t, service, once)
	execSQL(t, service, once)
	// Every other right is missing.
	for _, statement := range []string{
		`SELECT payload FROM outbox`, `UPDATE outbox SET state = 'PUBLISHED'`, `DELETE FROM outbox`, `SELECT * FROM outbox_lease`,
		`DELETE FROM inbox`, `SELECT outbox_archive_maintain(1, 1)`, `SELECT transactional_outbox_wake()`,
	} {
		if _, err := service.ExecContext(testContext(t), statement); !hasSQLState(err, "42501") && !hasSQLState(err, "0A000") {
			t.Errorf("%s: %v, want it refused", statement, err)
		}
	}
}

// Each grant to a publisher is necessary: without any one of them its insert fails.
func TestGrantsOfAPublisherAreMinimal(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, grants(t, "publisher.sql", role))
	service := connectAs(t, db, role, nil)
	insert := strings.Replace(insertV1, "outbox", "messaging.outbox", 1) + ` RETURNING id`
	for right, statement := range map[string]string{
		`USAGE ON SCHEMA messaging`:                 insert,
		`INSERT ON messaging.outbox`:                insert,
		`SELECT (id) ON messaging.outbox`:           insert,
		`USAGE ON SEQUENCE messaging.outbox_id_seq`: insert,
		`INSERT ON messaging.inbox`:                 `INSERT INTO messaging.inbox (message_id, source) VALUES ('m', 's') ON CONFLICT DO NOTHING`,
	} {
		execSQL(t, db, `REVOKE `+right+` FROM `+role)
		args := []any{"a"}
		if strings.Contains(statement, "inbox") {
			args = nil
		}
		if _, err := service.ExecContext(testContext(t), statement, args...); !hasSQLState(err, "42501") {
			t.Errorf("without %s: %v, want SQLSTATE 42501", right, err)
		}
		execSQL(t, db, `GRANT `+right+` TO `+role)
		if _, err := service.ExecContext(testContext(t), statement, args...); err != nil {
			t.Errorf("with %s again: %v", right, err)
		}
	}
}

func TestGrantsOfARelay(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, grants(t, "relay.sql", role))
	relay := connectAs(t, db, role, map[string]string{"search_path": "messaging"})
	for _, statement := range []string{
		`INSERT INTO outbox_relay (owner, asleep) VALUES ('r', true) ON CONFLICT (owner) DO UPDATE SET heartbeat_at = now()`,
		insertThree,
		`INSERT INTO outbox_lease (owner, expires_at, entry_ids) VALUES ('r', now() + interval '30 s', '{1}') RETURNING id`,
		`UPDATE outbox SET state = 'PROCESSING', lease_id = 1 WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`,
		`DELETE FROM outbox_lease`,
		`WITH moved AS (DELETE FROM outbox WHERE id = 1 RETURNING *) INSERT INTO outbox_archive (id, carrier_id, event_type,
			destination, destination_type, payload, created_at, published_at)
			SELECT id, carrier_id, event_type, destination, destination_type, payload, created_at, now() FROM moved`,
		`INSERT INTO inbox (message_id, source) VALUES ('m', 's')`, `DELETE FROM inbox`,
		`INSERT INTO outbox_maintenance (job, owner, started_at) VALUES ('cleanup', 'r', now())`,
		`SELECT outbox_archive_maintain(1, 7)`,
	} {
		execSQL(t, relay, statement)
	}
	if err := Verify(testContext(t), relay, Config{}); err != nil {
		t.Error(err)
	}
	// An Apply with nothing to do reads only.
	execSQL(t, db, `GRANT SELECT ON messaging.satchel_revisions TO `+role)
	if err := Apply(testContext(t), relay, Config{Schema: "messaging"}); err != nil {
		t.Error(err)
	}
}
