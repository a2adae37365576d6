package documents

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/postgrestest"
	"github.com/satchel-go/satchel/schema/migrator"
)

// messaging is the schema that the documents call by name.
const messaging = "messaging"

var (
	statement = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|ALTER|CREATE|DROP|GRANT|REINDEX|VACUUM) \S+ \S|^SELECT \S+\(`)
	role      = regexp.MustCompile(`\bapp_\w+`)
)

// stage is what statements find there before they begin, if they say so.
var stage = []struct{ says, exists string }{
	{"CREATE SCHEMA messaging", "DROP SCHEMA messaging CASCADE"},
	{"satchel_goose_version", "CREATE TABLE satchel_goose_version (version_id bigint, is_applied boolean)"}, // as goose makes it
	{"INDEX CONCURRENTLY name", "CREATE INDEX IF NOT EXISTS name ON outbox (event_type)"},                   // the reader's name
}

// isStatement reports whether code in a line of text is SQL that can be executed.
func isStatement(code string) bool {
	return statement.MatchString(code) && !strings.Contains(code, "...")
}

// SQL does what it says in migrated tables.
func TestSQL(t *testing.T) {
	t.Parallel()
	db := postgrestest.New(t)
	pool := db.SQL(t)
	if err := migrator.Apply(t.Context(), pool, migrator.Config{Schema: messaging}); err != nil {
		t.Fatal(err)
	}
	held, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	err = held.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		if _, err := conn.Exec(t.Context(), "SET search_path = "+messaging); err != nil {
			return err
		}
		for _, d := range documents(t) {
			for _, b := range d.blocks {
				if b.lang == "sql" {
					if err := execute(t.Context(), conn, b.text); err != nil {
						t.Errorf("%s: %v", b.where, err)
					}
				}
			}
			for _, s := range d.spans {
				if isStatement(s.text) {
					if err := execute(t.Context(), conn, s.text); err != nil {
						t.Errorf("%s: `%s`: %v", s.where, s.text, err)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// execute runs statements and takes back what they did, where PostgreSQL can.
func execute(ctx context.Context, conn *pgx.Conn, text string) error {
	if strings.Contains(text, "CONCURRENTLY") {
		if err := prepare(ctx, conn, text); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, text)
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	for _, name := range role.FindAllString(text, -1) {
		if err := makeRole(ctx, tx, name); err != nil {
			return err
		}
	}
	if err := prepare(ctx, tx, text); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, text)
	return err
}

// executor is a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// prepare makes what the statements say is there.
func prepare(ctx context.Context, db executor, text string) error {
	for _, s := range stage {
		if strings.Contains(text, s.says) {
			if _, err := db.Exec(ctx, s.exists); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeRole makes a role unless the server has it already.
func makeRole(ctx context.Context, tx pgx.Tx, name string) error {
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", name).Scan(&exists); err != nil || exists {
		return err
	}
	_, err := tx.Exec(ctx, fmt.Sprintf("CREATE ROLE %s", pgx.Identifier{name}.Sanitize()))
	return err
}
