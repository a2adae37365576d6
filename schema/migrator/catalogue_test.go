package migrator

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func allLines(t *testing.T, db *sql.DB) string {
	t.Helper()
	tables, err := readNames(testContext(t), db, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
		AND relkind IN ('r', 'p') AND relname <> 'satchel_revisions'`)
	if err != nil {
		t.Fatal(err)
	}
	functions, err := readNames(testContext(t), db, `SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	have, err := readCatalogue(testContext(t), db, tables, functions)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for o, definition := range have {
		lines = append(lines, o.kind+"\t"+o.name+"\t"+definition+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func TestExpectedCatalogueIsThatOfAFreshDatabase(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	got := allLines(t, db)
	if *update {
		if err := os.WriteFile("catalogue.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && got != expectedCatalogue {
		t.Errorf("catalogue.txt is out of date: run go test -run %s -update\n%s", t.Name(), got)
	}
}

func TestEveryTimeColumnHasAZone(t *testing.T) {
	t.Parallel()
	for o, definition := range expected() {
		if o.kind == "column" && strings.HasSuffix(o.name, "_at") && !strings.HasPrefix(definition, "timestamp with time zone") {
			t.Errorf("%s is %s", o.name, definition)
		}
		if strings.Contains(definition, "without time zone") || strings.HasPrefix(definition, "date") {
			t.Errorf("%s is %s", o.name, definition)
		}
	}
}

// A claim writes no index as long as no index mentions a column that a claim changes.
func TestClaimIsAHotUpdate(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	for o, definition := range expected() {
		for _, column := range []string{"state", "claimed_at", "claimed_by", "lease_id", "claims", "attempt", "updated_at"} {
			if o.kind == "index" && strings.Contains(definition, " ON outbox ") && strings.Contains(definition, column) {
				t.Errorf("%s mentions %s", o.name, column)
			}
		}
	}
	tx, err := db.BeginTx(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const n = 1000
	execSQL(t, tx, `INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload)
		SELECT gen_random_uuid(), 'a' || i, 'e', 'd', 'KAFKA', jsonb_build_object('pad', repeat('x', 200)) FROM generate_series(1, $1::int) i`, n)
	execSQL(t, tx, `UPDATE outbox SET state = 'PROCESSING', claimed_at = clock_timestamp(), claimed_by = 'relay-1', lease_id = 1,
		claims = claims + 1, updated_at = clock_timestamp()`)
	if hot := value[int](t, tx, `SELECT n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relid = 'outbox'::regclass`); hot != n {
		t.Errorf("%d of %d claims were HOT updates", hot, n)
	}
}

// Version 1 has to be what services of that version made, or their tables could not be taken over.
func TestVersion1Catalogue(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	applyUpTo(t, db, version1)
	got := regexp.MustCompile(` source [0-9a-f]{32}`).ReplaceAllString(allLines(t, db), "")
	if got != version1Catalogue {
		t.Errorf("version 1 is:\n%s", got)
	}
	columns, err := readNames(testContext(t), db, `SELECT attname FROM pg_attribute WHERE attrelid = 'outbox'::regclass AND attnum > 0 ORDER BY attnum`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(columns, " "); got != version1Order {
		t.Errorf("columns of outbox: %s", got)
	}
	body := value[string](t, db, `SELECT prosrc FROM pg_proc WHERE proname = 'notify_transactional_outbox'`)
	if !strings.Contains(body, "pg_notify('transactional_outbox_channel', NEW.id::text)") {
		t.Errorf("version 1 notifies by:\n%s", body)
	}
}

const version1Order = "id carrier_id aggregate_type aggregate_id event_type destination destination_type payload headers " +
	"metadata scheduled_at available_at state attempt max_attempts claimed_at claimed_by published_at last_error error_type " +
	"created_at updated_at"

const version1Catalogue = `column	inbox.message_id	character varying(255) not null
column	inbox.processed_at	timestamp with time zone not null default now()
column	inbox.source	character varying(255) not null
column	outbox.aggregate_id	character varying(255)
column	outbox.aggregate_type	character varying(255)
column	outbox.attempt	integer not null default 0
column	outbox.available_at	timestamp with time zone not null default now()
column	outbox.carrier_id	uuid not null
column	outbox.claimed_at	timestamp with time zone
column	outbox.claimed_by	character varying(255)
column	outbox.created_at	timestamp with time zone not null default now()
column	outbox.destination	character varying(255) not null
column	outbox.destination_type	character varying(32) not null
column	outbox.error_type	character varying(500)
column	outbox.event_type	character varying(255) not null
column	outbox.headers	jsonb
column	outbox.id	bigint not null default nextval('outbox_id_seq'::regclass)
column	outbox.last_error	text
column	outbox.max_attempts	integer not null default 20
column	outbox.metadata	jsonb not null default '{}'::jsonb
column	outbox.payload	jsonb not null
column	outbox.published_at	timestamp with time zone
column	outbox.scheduled_at	timestamp with time zone
column	outbox.state	character varying(32) not null default 'PENDING'::character varying
column	outbox.updated_at	timestamp with time zone not null default now()
constraint	inbox.inbox_pkey	PRIMARY KEY (message_id, source)
constraint	outbox.outbox_carrier_id_key	UNIQUE (carrier_id)
constraint	outbox.outbox_pkey	PRIMARY KEY (id)
function	notify_transactional_outbox()	trigger language plpgsql
index	idx_inbox_processed_at	CREATE INDEX idx_inbox_processed_at ON inbox USING btree (processed_at)
index	idx_outbox_aggregate	CREATE INDEX idx_outbox_aggregate ON outbox USING btree (aggregate_id, id) WHERE (state::text = ANY (ARRAY['PENDING'::character varying, 'PROCESSING'::character varying]::text[])) AND aggregate_id IS NOT NULL
index	idx_outbox_dead_letter	CREATE INDEX idx_outbox_dead_letter ON outbox USING btree (updated_at) WHERE state::text = 'DEAD_LETTER'::text
index	idx_outbox_pending	CREATE INDEX idx_outbox_pending ON outbox USING btree (available_at, id) WHERE state::text = 'PENDING'::text
index	idx_outbox_processing	CREATE INDEX idx_outbox_processing ON outbox USING btree (claimed_at) WHERE state::text = 'PROCESSING'::text
index	idx_outbox_published	CREATE INDEX idx_outbox_published ON outbox USING btree (published_at) WHERE state::text = 'PUBLISHED'::text
index	inbox_pkey	CREATE UNIQUE INDEX inbox_pkey ON inbox USING btree (message_id, source)
index	outbox_carrier_id_key	CREATE UNIQUE INDEX outbox_carrier_id_key ON outbox USING btree (carrier_id)
index	outbox_pkey	CREATE UNIQUE INDEX outbox_pkey ON outbox USING btree (id)
table	inbox	table
table	outbox	table
trigger	outbox.transactional_outbox_notify	CREATE TRIGGER transactional_outbox_notify AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION notify_transactional_outbox()
`
