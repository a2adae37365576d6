package migrator

import (
	"errors"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/schema"
)

func TestVerifyFindsDifferences(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	// Each case runs in a transaction of its own that is rolled back, so that the next one starts from a good schema.
	for _, c := range []struct{ damage, want string }{
		{`DROP TABLE outbox_maintenance`, `table outbox_maintenance is missing`},
		{`DROP INDEX idx_outbox_claim`, `index idx_outbox_claim is missing`},
		{`DROP TRIGGER transactional_outbox_notify ON outbox`, `trigger outbox.transactional_outbox_notify is missing`},
		{`ALTER TABLE outbox DISABLE TRIGGER transactional_outbox_notify`, `trigger outbox.transactional_outbox_notify is disabled`},
		{`DROP FUNCTION outbox_archive_maintain`, `function outbox_archive_maintain(days_ahead integer, keep_days integer) is missing`},
		{`ALTER TABLE outbox DROP COLUMN content_type`, `column outbox.content_type is missing`},
		{`ALTER TABLE inbox ALTER COLUMN source TYPE text`, `column inbox.source is "text not null", want "character varying(255) not null"`},
		{`ALTER TABLE inbox ALTER COLUMN processed_at DROP DEFAULT`, `column inbox.processed_at is "timestamp with time zone not null", want "timestamp with time zone not null default now()"`},
		{`ALTER TABLE outbox DROP CONSTRAINT outbox_payload_one_form`, `constraint outbox.outbox_payload_one_form is missing`},
		{`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'idx_outbox_claim'::regclass`, `index idx_outbox_claim is INVALID`},
		{`CREATE INDEX extra ON outbox (id); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'extra'::regclass`, `index extra is INVALID`},
		{
			`DROP INDEX idx_outbox_published; CREATE INDEX idx_outbox_published ON outbox (published_at)`,
			`index idx_outbox_published is "CREATE INDEX idx_outbox_published ON outbox USING btree (published_at)", want "CREATE INDEX idx_outbox_published ON outbox USING btree (published_at) WHERE published_at IS NOT NULL"`,
		},
		{`ALTER TABLE outbox ADD COLUMN mine text; CREATE INDEX more ON outbox (mine); CREATE TABLE mine (id int)`, ``},
	} {
		tx, err := db.BeginTx(testContext(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		execSQL(t, tx, c.damage)
		want := expected()
		have, err := readCatalogue(testContext(t), tx, want.names("table"), functionNames(want.names("function")))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, d := range compare(want, have, false) {
			found = append(found, d.String())
		}
		if c.want == "" && len(found) > 0 || c.want != "" && !slices.Contains(found, c.want) {
			t.Errorf("%s:\nfound %q\nwant  %q", c.damage, found, c.want)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// A function that is pinned to another schema, or not at all, is found.
func TestVerifyFindsAFunctionThatIsNotPinned(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	for _, damage := range []string{
		`ALTER FUNCTION outbox_archive_maintain(integer, integer) RESET search_path`,
		`ALTER FUNCTION outbox_archive_maintain(integer, integer) SET search_path = elsewhere, pg_temp`,
		`ALTER FUNCTION outbox_archive_maintain(integer, integer) SECURITY INVOKER`,
	} {
		execSQL(t, db, damage)
		var drift *DriftError
		if err := Verify(testContext(t), db, Config{}); !errors.As(err, &drift) || len(drift.Differences) != 1 || drift.Differences[0].Kind != "function" {
			t.Errorf("%s: %v", damage, err)
		}
		execSQL(t, db, `ALTER FUNCTION outbox_archive_maintain(integer, integer) SECURITY DEFINER SET search_path = public, pg_temp`)
	}
	execSQL(t, db, `ALTER FUNCTION transactional_outbox_wake() SECURITY INVOKER`)
	var drift *DriftError
	if err := Verify(testContext(t), db, Config{}); !errors.As(err, &drift) {
		t.Errorf("a trigger function with its caller's rights: %v", err)
	}
	execSQL(t, db, `ALTER FUNCTION transactional_outbox_wake() SECURITY DEFINER`)
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}
}

func TestVerifyOnOldAndEmptyDatabases(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	var drift *DriftError
	if err := Verify(testContext(t), db, Config{}); !errors.As(err, &drift) || len(drift.Pending) != 0 || len(drift.Differences) != len(expected()) {
		t.Errorf("empty: %v", err)
	}
	applyUpTo(t, db, version2)
	if err := Verify(testContext(t), db, Config{}); !errors.As(err, &drift) || len(drift.Pending) != 3 {
		t.Errorf("version 2: %v", err)
	}
	apply(t, db, Config{})
	execSQL(t, db, `DROP TABLE satchel_revisions`) // as if another tool had applied the files
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Errorf("tables of another tool in the right form: %v", err)
	}
}

func TestVerifyNeedsUsageOnly(t *testing.T) {
	t.Parallel()
	role := newRole(t)
	db := newDatabase(t)
	apply(t, db, Config{Schema: "messaging"})
	execSQL(t, db, `GRANT USAGE ON SCHEMA messaging TO `+role)
	if err := Verify(testContext(t), connectAs(t, db, role, nil), Config{Schema: "messaging"}); err != nil {
		t.Error(err)
	}
}

func TestDisabledTriggerIsAcceptedWhenTold(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	cfg := Config{Schema: "messaging"}
	apply(t, db, cfg)
	if err := DisableNotify(testContext(t), db, cfg); err != nil {
		t.Fatal(err)
	}
	var drift *DriftError
	if err := Verify(testContext(t), db, cfg); !errors.As(err, &drift) || len(drift.Differences) != 1 {
		t.Errorf("Verify: %v, want the disabled trigger", err)
	}
	if err := Verify(testContext(t), db, Config{Schema: "messaging", AllowDisabledNotify: true}); err != nil {
		t.Errorf("Verify, told: %v", err)
	}
	if err := EnableNotify(testContext(t), db, cfg); err != nil {
		t.Fatal(err)
	}
	if err := Verify(testContext(t), db, cfg); err != nil {
		t.Error(err)
	}
}

func TestStatusOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	steps, err := Status(testContext(t), newDatabase(t), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if step.Done() {
			t.Errorf("%s is done on an empty database", step.File)
		}
	}
	if steps[len(steps)-1].Version != schema.Version {
		t.Errorf("the last step is %s", steps[len(steps)-1].File)
	}
}
