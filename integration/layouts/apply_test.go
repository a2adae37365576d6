package layouts

import (
	"testing"

	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"
)

// insertV1 is how a publisher of version 1 writes.
const insertV1 = `INSERT INTO outbox (carrier_id, aggregate_type, aggregate_id, event_type, destination, destination_type, payload)
	VALUES (gen_random_uuid(), 'Order', 'a', 'created', 'orders', 'KAFKA', '{"n": 1}')`

func TestEmptyDatabaseAndAgain(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		name, db := newDatabase(t)
		want := reference(t, "public")
		// The second time is that of a service that starts again.
		for range 2 {
			if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
				t.Fatal(err)
			}
			verify(t, db, "public")
			if have := fingerprint(t, db, "public"); have != want {
				t.Fatalf("the tables differ from those of the migrator:\n%s\n\nwant:\n%s", have, want)
			}
			execSQL(t, db, insertV1)
		}
		if n := value[int](t, db, `SELECT count(*) FROM outbox`); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
	})
}

func TestUpgradeFromVersion1(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		name, db := newDatabase(t)
		if err := with.up(testContext(t), t, address(t, name, ""), version1); err != nil {
			t.Fatal(err)
		}
		for _, row := range []struct{ state, owner string }{{"PENDING", ""}, {"PROCESSING", "old"}, {"DEAD_LETTER", ""}, {"PUBLISHED", ""}} {
			execSQL(t, db, insertV1)
			execSQL(t, db, `UPDATE outbox SET state = $1, claimed_by = NULLIF($2, '') WHERE id = (SELECT max(id) FROM outbox)`, row.state, row.owner)
		}
		if err := with.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
			t.Fatal(err)
		}
		if have := fingerprint(t, db, "public"); have != reference(t, "public") {
			t.Errorf("the tables differ from those of the migrator:\n%s", have)
		}
		const rows = `SELECT string_agg(concat_ws(',', state, lease_id IS NOT NULL, dead_lettered_at IS NOT NULL, published_at IS NOT NULL), ' ' ORDER BY id) FROM outbox`
		if got := value[string](t, db, rows); got != "PENDING,f,f,f PROCESSING,t,f,f DEAD_LETTER,f,t,f PUBLISHED,f,f,t" {
			t.Errorf("the rows are now %s", got)
		}
	})
}

// The search_path of the connection decides where the tables, the functions and the tool's own record go.
func TestMappedSchema(t *testing.T) {
	each(t, func(t *testing.T, with tool) {
		name, db := newDatabase(t)
		for _, mapped := range []string{"messaging", "Mixed-Case"} {
			execSQL(t, db, `CREATE SCHEMA `+quote(mapped))
			if err := with.up(testContext(t), t, address(t, name, quote(mapped)), newest(t)); err != nil {
				t.Fatal(err)
			}
			verify(t, db, mapped)
			if have := fingerprint(t, db, mapped); have != reference(t, mapped) {
				t.Errorf("%s: the tables differ from those of the migrator:\n%s", mapped, have)
			}
			// The trigger finds its own schema, whatever the publisher sees.
			execSQL(t, db, `INSERT INTO `+quote(mapped)+`.outbox_relay (owner, asleep) VALUES ('r', true)`)
			execSQL(t, db, `INSERT INTO `+quote(mapped)+`.outbox (carrier_id, event_type, destination, destination_type, payload)
				VALUES (gen_random_uuid(), 'e', 'd', 'KAFKA', '1')`)
		}
		if n := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`); n != 0 {
			t.Errorf("%d relations landed in public", n)
		}
	})
}

// Tables that another tool brought to some version are taken over: the migrator by its baseline, the others as the
// document says.
func TestChangingTheTool(t *testing.T) {
	t.Parallel()
	record := map[string]func(t *testing.T, address string, version int64){
		"goose": func(t *testing.T, address string, version int64) {
			db := open(t, address)
			if _, err := newGoose(t, address, goosePart(t, version)).Status(testContext(t)); err != nil { // makes its table
				t.Fatal(err)
			}
			for _, v := range versions(t) {
				if v <= version {
					execSQL(t, db, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, v)
				}
			}
		},
		"golang-migrate": func(t *testing.T, address string, version int64) {
			if err := newMigrate(t, address, golangMigratePart(t, version), nil).Force(int(version)); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, from := range tools {
		for _, to := range tools {
			if from.name == to.name {
				continue
			}
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				t.Parallel()
				name, db := newDatabase(t)
				if err := from.up(testContext(t), t, address(t, name, ""), version1); err != nil {
					t.Fatal(err)
				}
				record[to.name](t, address(t, name, ""), version1)
				if err := to.up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
					t.Fatal(err)
				}
				verify(t, db, "public")
				if err := migrator.Apply(testContext(t), db, migrator.Config{Baseline: schema.Version}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
