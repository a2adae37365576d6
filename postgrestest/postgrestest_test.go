package postgrestest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/pgxtx"
	"github.com/satchel-go/satchel/servers/pgserver"
)

func TestMain(m *testing.M) { Main(m) }

var confirmed = outbox.Entry{
	DestinationType: destination.Kafka, Destination: "orders", EventType: "order.confirmed",
	AggregateID: "order-42", AggregateType: "Order", Payload: map[string]int{"total": 4200},
	Headers: map[string]string{"tenant": "acme"}, MaxAttempts: 7,
	ScheduledAt: time.Date(2031, 5, 1, 12, 0, 0, 123456000, time.UTC),
}

// What is published is seen in its transaction at once and by others after the commit, and
// comes back as it was given.
func TestEntries(t *testing.T) {
	t.Parallel()
	pool := New(t).Pool(t)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	raw := outbox.Entry{DestinationType: "X", Destination: "d", EventType: "e", Payload: outbox.Raw{ContentType: "text/plain", Data: []byte("hi")}}
	committed := outboxtest.Added(t, Entries(pool, ""), func() {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			inside := outboxtest.Added(t, Entries(tx, "public"), func() {
				if _, err := publisher.PublishAll(t.Context(), tx, confirmed, raw); err != nil {
					t.Error(err)
				}
			})
			outboxtest.Expect(t, inside, confirmed, raw)
			if outside := outboxtest.Added(t, Entries(pool, ""), func() {}); len(outside) != 0 {
				t.Errorf("others see %v", outside)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	outboxtest.Expect(t, committed, confirmed, raw)
	if id := committed[0].MessageID; id == (outbox.MessageID{}) || id == committed[1].MessageID {
		t.Errorf("message id %v", id)
	}
	recorder := outboxtest.NewRecorder("X")
	store, err := postgres.NewStore(pool, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := outboxtest.Drain(t, store, recorder); len(got) != 1 || string(recorder.Delivered()[0].Payload) != "hi" {
		t.Errorf("drained %v", got)
	}
}

// Two tests do not see each other's rows, and both forms of access reach the same database.
func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	one, two := New(t), New(t)
	if one.Name == two.Name || one.Server == "" {
		t.Errorf("%+v and %+v", one, two)
	}
	if image := os.Getenv(pgserver.EnvImage); image != "" && os.Getenv(pgserver.EnvURL) == "" && !strings.Contains(one.Server, image) {
		t.Errorf("%s, want a container of %s", one.Server, image)
	}
	const insert = "INSERT INTO inbox (message_id, source) VALUES ('1', 's')"
	if _, err := one.SQL(t).ExecContext(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	for d, want := range map[*Database]int{one: 1, two: 0} {
		var rows int
		if err := d.Pool(t).QueryRow(t.Context(), "SELECT count(*) FROM inbox").Scan(&rows); err != nil || rows != want {
			t.Errorf("%s has %d rows, want %d; %v", d.Name, rows, want, err)
		}
	}
}

// scratch is a test that has ended when end was called.
type scratch struct {
	testing.TB
	cleanups []func()
}

func (s *scratch) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }
func (s *scratch) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

func TestDatabaseIsRemoved(t *testing.T) {
	t.Parallel()
	s := &scratch{TB: t}
	d := New(s)
	pool := d.Pool(s)
	if err := pool.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.end()
	conn, err := pgx.Connect(t.Context(), d.URL)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" { // no such database
		t.Errorf("%v, %v", conn, err)
	}
}

// A role that may not create databases gets a schema, with the same statements.
func TestRoleWithoutCreateDB(t *testing.T) {
	t.Parallel()
	home := New(t)
	role := "satchel_test_role_" + strings.TrimPrefix(home.Name, "satchel_test_")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, statement := range []string{
		"CREATE ROLE " + role + " LOGIN PASSWORD 'only-a-test'",
		"GRANT CREATE ON DATABASE " + home.Name + " TO " + role,
	} {
		if err := execute(ctx, home.URL, statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		// The database, on which the role has rights, is there until after this.
		for _, statement := range []string{"DROP OWNED BY " + role, "DROP ROLE " + role} {
			if err := execute(context.Background(), home.URL, statement); err != nil {
				t.Error(err)
			}
		}
	})
	u, err := url.Parse(home.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "only-a-test")

	d := &Database{Name: freshName()}
	if err := d.create(ctx, u.String()); err != nil || !d.Shared {
		t.Fatalf("%+v, %v", d, err)
	}
	pool := d.Pool(t)
	publisher, err := pgxtx.NewPublisher(pgxtx.Config{}, outbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := outboxtest.Added(t, Entries(pool, d.Name), func() {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := publisher.Publish(ctx, tx, confirmed)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	outboxtest.Expect(t, got, confirmed)
	if other := outboxtest.Added(t, Entries(home.Pool(t), ""), func() {}); len(other) != 0 {
		t.Errorf("the database's own tables got %v", other)
	}
	if err := execute(ctx, u.String(), d.removal()); err != nil {
		t.Error(err)
	}
}

func TestConnectionStrings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, database, setting string }{
		{"postgres://u:p@h:1/a?sslmode=disable", "postgres://u:p@h:1/b?sslmode=disable", "postgres://u:p@h:1/a?search_path=s&sslmode=disable"},
		{"host=h dbname=a", "host=h dbname=a dbname=b", "host=h dbname=a search_path=s"},
		{"postgres://u:secret@h:port/a", "", ""},
	} {
		database, err := withDatabase(c.in, "b")
		setting, settingErr := withSetting(c.in, "search_path", "s")
		if database != c.database || setting != c.setting || (err == nil) != (c.database != "") || (settingErr == nil) != (c.setting != "") {
			t.Errorf("%q, %v; %q, %v", database, err, setting, settingErr)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}
