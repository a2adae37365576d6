package migrator

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
)

const archiveOne = `INSERT INTO outbox_archive (id, carrier_id, event_type, destination, destination_type, payload, created_at, published_at)
	VALUES (1, gen_random_uuid(), 'e', 'd', 'KAFKA', '1', now(), (date_trunc('day', now() AT TIME ZONE 'UTC') + $1::interval) AT TIME ZONE 'UTC')`

const maintain = `SELECT outbox_archive_maintain($1, $2)`

// archived returns a migrated database whose archive has day partitions from 20 days ago up to today.
func archived(t *testing.T) *sql.DB {
	t.Helper()
	db := newDatabase(t)
	apply(t, db, Config{})
	execSQL(t, db, `DO $$ DECLARE day date; BEGIN
		FOR ago IN 0 .. 20 LOOP
			day := (now() AT TIME ZONE 'UTC')::date - ago;
			EXECUTE format('CREATE TABLE outbox_archive_%s PARTITION OF outbox_archive FOR VALUES FROM (%L) TO (%L)',
				to_char(day, '"y"YYYY"m"MM"d"DD'), day || ' 00:00:00+00', (day + 1) || ' 00:00:00+00');
		END LOOP; END $$`)
	return db
}

func dayPartitions(t *testing.T, db *sql.DB) int {
	t.Helper()
	return value[int](t, db, `SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox_archive'::regclass
		AND inhrelid <> 'outbox_archive_default'::regclass`)
}

func TestArchiveCreatesDaysAhead(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	// UTC days, whatever the session thinks of time zones and of how dates are written.
	abroad := connectAs(t, db, "", map[string]string{"TimeZone": "Pacific/Kiritimati", "DateStyle": "German, DMY", "search_path": ""})
	for range 2 {
		if n := value[int](t, abroad, `SELECT public.outbox_archive_maintain(3, 7)`); n != 0 {
			t.Errorf("dropped %d, want 0", n)
		}
		if n := dayPartitions(t, db); n != 4 {
			t.Errorf("%d day partitions, want 4", n)
		}
	}
	for offset, partition := range map[string]string{
		"0 s":                `"outbox_archive_y"YYYY"m"MM"d"DD`,
		"23:59:59.999999":    `"outbox_archive_y"YYYY"m"MM"d"DD`,
		"3 days 23:59:59":    `"outbox_archive_y"YYYY"m"MM"d"DD`,
		"-0.000001 s":        `"outbox_archive_default"`,
		"4 days":             `"outbox_archive_default"`,
		"-1000 days 1 hours": `"outbox_archive_default"`,
	} {
		got := value[string](t, db, strings.Replace(archiveOne, "outbox_archive", "outbox_archive AS a", 1)+` RETURNING tableoid::regclass::text`, offset)
		want := value[string](t, db, `SELECT to_char((now() AT TIME ZONE 'UTC')::date + $1::interval, $2)`, offset, partition)
		if got != want {
			t.Errorf("a row at %s went to %s, want %s", offset, got, want)
		}
	}
}

func TestArchiveDropsOldDays(t *testing.T) {
	t.Parallel()
	db := archived(t)
	for _, offset := range []string{"-8 days", "-7 days -1 us", "-7 days", "0"} {
		execSQL(t, db, archiveOne, offset)
	}
	if n := value[int](t, db, maintain, 0, nil); n != 0 || dayPartitions(t, db) != 21 {
		t.Errorf("NULL keeps all: dropped %d, %d left", n, dayPartitions(t, db))
	}
	// Days 8 to 20 ago are wholly older than 7 days; the 7th is so only in part.
	if n := value[int](t, db, maintain, 0, 7); n != 13 || dayPartitions(t, db) != 8 {
		t.Errorf("dropped %d, %d left; want 13 and 8", n, dayPartitions(t, db))
	}
	if n := value[int](t, db, `SELECT count(*) FROM outbox_archive`); n != 2 {
		t.Errorf("%d rows left, want 2", n)
	}
	if n := value[int](t, db, maintain, 0, 7); n != 0 {
		t.Errorf("dropped %d more", n)
	}
	if n := value[int](t, db, maintain, 0, 1); n != 6 {
		t.Errorf("keeping one day dropped %d, want 6: yesterday is not wholly older", n)
	}
}

func TestArchiveLeavesForeignPartitionsAlone(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	execSQL(t, db, `CREATE TABLE outbox_archive_y1999 PARTITION OF outbox_archive FOR VALUES FROM ('1999-01-01 00:00:00+00') TO ('2000-01-01 00:00:00+00')`)
	execSQL(t, db, `CREATE TABLE outbox_archive_y1998m01d01 (id int)`) // not a partition
	if n := value[int](t, db, maintain, 0, 1); n != 0 {
		t.Errorf("dropped %d", n)
	}
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}
}

func TestArchiveRefusesBadArguments(t *testing.T) {
	t.Parallel()
	db := archived(t)
	for _, args := range [][]any{{nil, 7}, {-1, 7}, {367, 7}, {1, 0}, {1, -1}, {1, 36501}} {
		if _, err := db.ExecContext(testContext(t), maintain, args...); !hasSQLState(err, "22023") {
			t.Errorf("%v: %v, want SQLSTATE 22023", args, err)
		}
	}
	if n := dayPartitions(t, db); n != 21 {
		t.Errorf("%d partitions left, want 21", n)
	}
}

// Rows that found no partition are retained as long as others, and do not keep later days from getting one.
func TestArchiveDefaultPartition(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	for _, offset := range []string{"-30 days", "-8 days", "-7 days", "1 hour"} {
		execSQL(t, db, archiveOne, offset)
	}
	execSQL(t, db, maintain, 2, 7)
	if n := value[int](t, db, `SELECT count(*) FROM outbox_archive_default`); n != 2 {
		t.Errorf("%d rows in the default partition, want 2", n)
	}
	if n := dayPartitions(t, db); n != 1 {
		t.Errorf("%d partitions after the first call, want 1: tomorrow's", n)
	}
	execSQL(t, db, maintain, 2, 7)
	if n := dayPartitions(t, db); n != 2 {
		t.Errorf("%d partitions after the second call, want 2: today's rows are in the default partition", n)
	}
	execSQL(t, db, `TRUNCATE outbox_archive_default`)
	execSQL(t, db, maintain, 2, 7)
	if n := dayPartitions(t, db); n != 3 {
		t.Errorf("%d partitions once the default one is empty, want 3", n)
	}
}

// What is in use is left for the next call, and nobody waits longer than the function's own lock timeout.
func TestArchiveGivesWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement       string
		dropped, remain int
	}{
		"writer of today":  {strings.Replace(archiveOne, "$1", "'0'", 1), 0, 23},
		"reader of all":    {`SELECT count(*) FROM outbox_archive`, 0, 21}, // holds the default partition too
		"other maintainer": {`LOCK TABLE outbox_archive IN SHARE UPDATE EXCLUSIVE MODE`, 0, 21},
		"nobody":           {`SELECT 1`, 13, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := archived(t)
			other, err := db.BeginTx(testContext(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			execSQL(t, other, c.statement)
			if n := value[int](t, db, maintain, 2, 7); n != c.dropped || dayPartitions(t, db) != c.remain {
				t.Errorf("dropped %d, %d left; want %d and %d", n, dayPartitions(t, db), c.dropped, c.remain)
			}
			execSQL(t, other, archiveOne, "0")
			if err := other.Commit(); err != nil {
				t.Fatal(err)
			}
			execSQL(t, db, maintain, 2, 7)
			if n := dayPartitions(t, db); n != 10 {
				t.Errorf("%d partitions after the next call, want 10", n)
			}
		})
	}
}

// Writers of today find their partition or the default one, also while several nodes create it.
func TestArchiveByManyAtOnce(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	const rounds = 10
	for range rounds {
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				query, args := maintain, []any{3, 7}
				if i%2 == 0 {
					query, args = archiveOne, []any{"1 hour"}
				}
				for range 20 {
					if _, err := db.ExecContext(testContext(t), query, args...); err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if n := value[int](t, db, `SELECT count(*) FROM outbox_archive`); n != 60 {
			t.Errorf("%d rows, want 60", n)
		}
		execSQL(t, db, `DELETE FROM outbox_archive`)
		execSQL(t, db, `DO $$ DECLARE partition text; BEGIN
			FOR partition IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhrelid <> 'outbox_archive_default'::regclass LOOP
				EXECUTE 'DROP TABLE ' || partition;
			END LOOP; END $$`)
	}
}
