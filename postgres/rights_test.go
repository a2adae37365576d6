package postgres

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/relay"
	"github.com/satchel-go/satchel/core/storetest"
	"github.com/satchel-go/satchel/postgres/internal/pgtest"
)

// The rights that the schema's documentation gives to the two kinds of role.
const (
	publisherRights = `GRANT USAGE ON SCHEMA messaging TO role_name;
GRANT INSERT, SELECT (id) ON messaging.outbox TO role_name;
GRANT USAGE ON SEQUENCE messaging.outbox_id_seq TO role_name;
GRANT INSERT ON messaging.inbox TO role_name;`

	relayRights = `GRANT USAGE ON SCHEMA messaging TO role_name;
GRANT SELECT, INSERT, UPDATE, DELETE ON messaging.outbox, messaging.inbox, messaging.outbox_lease, messaging.outbox_relay,
    messaging.outbox_maintenance, messaging.outbox_archive TO role_name;
GRANT USAGE ON SEQUENCE messaging.outbox_id_seq TO role_name;
GRANT EXECUTE ON FUNCTION messaging.outbox_archive_maintain(integer, integer) TO role_name;`
)

// as gives a new role some rights on the mapped schema and returns a pool of that role.
func as(t *testing.T, d *pgtest.Database, rights string, adjust ...func(*pgxpool.Config)) placed {
	t.Helper()
	role := "satchel_pg_" + strings.ToLower(rand.Text()[:12])
	d.Exec(t, "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'; "+
		strings.NewReplacer("messaging", pgx.Identifier{pgtest.Mapped}.Sanitize(), "role_name", role).Replace(rights))
	t.Cleanup(func() { d.Exec(t, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	adjust = append(adjust, func(cfg *pgxpool.Config) { cfg.ConnConfig.User, cfg.ConnConfig.Password = role, "secret" })
	return placed{d, d.Pool(t, pgtest.Mapped, adjust...), pgtest.Mapped}
}

// TestPublisherRights: publish and process need what is documented and no more.
func TestPublisherRights(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	d := pgtest.New(t)
	d.Exec(t, `INSERT INTO `+pgx.Identifier{pgtest.Mapped}.Sanitize()+`.outbox_relay (owner, asleep) VALUES ('sleeper', true)`)
	p := as(t, d, publisherRights)
	publishing(t, p, alpha("a"))
	publishing(t, p, alpha("a"), alpha("b"))
	begin, _ := pgxWriter(t, p)
	for _, want := range []bool{true, false} {
		tx, err := begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ran, err := tx.Once(ctx, inbox.Message{ID: "m", Source: "s"}, nothing)
		if ran != want || err != nil {
			t.Errorf("once: %v, %v", ran, err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	_, err := openStore(t, p).Open(relay.SessionOptions{Owner: "one"}).Claim(ctx, request(1))
	expectCode(t, "claim by a publisher", err, "42501", false)
}

// TestRelayRights runs the suite as the runtime role. What only a test may do (looking
// into the table, making rows older) the owner does.
func TestRelayRights(t *testing.T) {
	t.Parallel()
	topics(t, []string{"Settle", "OnPublished", "Reclaim", "Heal", "Cleanup", "TxDelivery", "Registry", "Renew"}, func(t *testing.T) storetest.Fixture {
		return fixture(t, as(t, pgtest.New(t), relayRights), pgxWriter)
	})
}

// TestCleanupUnderTimeouts: a role with short limits, and rows that somebody holds,
// do not stop retention: what is locked is skipped, each batch is a transaction.
func TestCleanupUnderTimeouts(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	d := pgtest.New(t)
	p := as(t, d, relayRights, func(cfg *pgxpool.Config) {
		cfg.ConnConfig.RuntimeParams["statement_timeout"] = "2s"
		cfg.ConnConfig.RuntimeParams["lock_timeout"] = "200ms"
	})
	quoted := pgx.Identifier{p.schema, "outbox"}.Sanitize()
	d.Exec(t, `INSERT INTO `+quoted+` (carrier_id, event_type, destination, destination_type, payload, state, published_at)
		SELECT gen_random_uuid(), 'e', 'd', 'ALPHA', '1', 'PUBLISHED', now() - interval '30 days' FROM generate_series(1, 5000)`)
	holder := d.Conn(t, "")
	if _, err := holder.Exec(ctx, `BEGIN; SELECT FROM `+quoted+` WHERE id % 100 = 0 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	store, deleted := openStore(t, p), 0
	for {
		n, err := store.DeletePublished(ctx, 24*time.Hour, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if deleted += n; n == 0 {
			break
		}
	}
	if deleted != 4950 {
		t.Errorf("deleted %d, want all but the 50 that are locked", deleted)
	}
	if _, err := holder.Exec(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if n, err := store.DeletePublished(ctx, 24*time.Hour, 1000); n != 50 || err != nil {
		t.Errorf("afterwards: %d, %v", n, err)
	}
}
