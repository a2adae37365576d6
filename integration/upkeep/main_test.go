package upkeep

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/integration/internal/lab"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

func TestMain(m *testing.M) { lab.Main(m, map[string]lab.Role{"stalled": stalled}) }

// everySecond is the shortest schedule, never one that does not come due during a test.
const (
	everySecond = "* * * * * *"
	never       = "0 0 0 29 2 *"
)

// stalled is a node that begins to recover leases and gets no further.
func stalled(ctx context.Context, text []byte, say func(string)) error {
	var db lab.Database
	if err := json.Unmarshal(text, &db); err != nil {
		return err
	}
	pool, err := db.Open(lab.Size(2))
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		return err
	}
	for ctx.Err() == nil { // until it is this node's turn
		_, err := store.Exclusive(ctx, scheduler.RecoveryJob, "stalled", time.Millisecond, func(context.Context) (int64, error) {
			say("begun")
			select {}
		})
		if err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// schedule runs a scheduler until the test ends.
func schedule(t *testing.T, pool *pgxpool.Pool, cfg scheduler.Config) {
	t.Helper()
	s, err := scheduler.New(lab.Store(t, pool), cfg)
	if err != nil {
		t.Fatal(err)
	}
	lab.Background(t, "scheduler", s.Run)
}

// audit keeps a row for each beginning of a job.
const audit = `CREATE TABLE run (job text, owner text, at timestamptz);
	CREATE FUNCTION note_run() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN INSERT INTO run VALUES (NEW.job, NEW.owner, NEW.started_at); RETURN NULL; END $$;
	CREATE TRIGGER note_begun AFTER INSERT ON outbox_maintenance FOR EACH ROW EXECUTE FUNCTION note_run();
	CREATE TRIGGER note_begun_again AFTER UPDATE OF started_at ON outbox_maintenance FOR EACH ROW EXECUTE FUNCTION note_run()`

func runs(t *testing.T, q lab.Querier, job string) int {
	t.Helper()
	return lab.Value[int](t, q, `SELECT count(*) FROM run WHERE job = $1`, job)
}
