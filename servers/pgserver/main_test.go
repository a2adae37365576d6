package pgserver

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// own starts a server that the test may crash.
func own(t *testing.T, o Options) *Server {
	t.Helper()
	o.Private, o.Logf = true, t.Logf
	server, err := Find(t.Context(), o)
	if err != nil {
		t.Fatalf("no PostgreSQL server; run \"make test\", or install PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	t.Logf("%v", server)
	return server
}

// query runs one statement on a connection of its own and returns the one value that it gives.
func query(t *testing.T, server *Server, statement string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var value string
	err = conn.QueryRow(ctx, statement).Scan(&value)
	return value, err
}

func mustQuery(t *testing.T, server *Server, statement string) string {
	t.Helper()
	value, err := query(t, server, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
