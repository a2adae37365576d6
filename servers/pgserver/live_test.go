package pgserver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

func TestServerHasTheSettingsThatWereAskedFor(t *testing.T) {
	t.Parallel()
	server := own(t, Options{
		Ephemeral:      true,
		MaxConnections: 37,
		Settings:       map[string]string{"wal_level": "logical", "full_page_writes": "on"},
	})
	for name, want := range map[string]string{
		"max_connections":    "37",
		"wal_level":          "logical",
		"fsync":              "off",
		"full_page_writes":   "on", // Settings win over Ephemeral
		"synchronous_commit": "on",
		"jit":                "off",
		"server_encoding":    "UTF8",
	} {
		if got := mustQuery(t, server, "SHOW "+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := mustQuery(t, server, "SELECT current_user || '@' || current_database()"); got != "postgres@postgres" {
		t.Errorf("connected as %s", got)
	}
	if got := mustQuery(t, server, "SHOW server_version"); !strings.HasPrefix(got, server.Version) {
		t.Errorf("version %s is reported as %s", got, server.Version)
	}
}

func TestDurableServerByDefault(t *testing.T) {
	t.Parallel()
	server := own(t, Options{})
	for name, want := range map[string]string{"fsync": "on", "full_page_writes": "on", "max_connections": "200"} {
		if got := mustQuery(t, server, "SHOW "+name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestOutages(t *testing.T) {
	t.Parallel()
	outages(t, own(t, Options{Ephemeral: true}))
}

// outages crashes, pauses and restarts a server, and looks for what was committed.
func outages(t *testing.T, server *Server) {
	t.Helper()
	url := server.URL
	mustExec(t, server, "CREATE TABLE kept (n int)")

	// A crash loses the connections and nothing that was committed.
	mustExec(t, server, "INSERT INTO kept VALUES (1)")
	if err := server.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := query(t, server, "SELECT 'up'"); err == nil {
		t.Error("the server answers after a crash")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustQuery(t, server, "SELECT count(*)::text FROM kept"); got != "1" {
		t.Errorf("%s rows after a crash, want 1", got)
	}

	// A paused server keeps connections and answers nothing.
	if err := server.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := pgx.Connect(ctx, url); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connecting to a paused server: got %v, want no answer in time", err)
	}
	if err := server.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}

	// An orderly restart works from running too.
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustQuery(t, server, "SELECT count(*)::text FROM kept"); got != "1" || server.URL != url {
		t.Errorf("%s rows at %s after a restart, want 1 at the same place", got, server.URL)
	}
}

// mustExec runs statements that return nothing.
func mustExec(t *testing.T, server *Server, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestStopRemovesEverything(t *testing.T) {
	t.Parallel()
	server := own(t, Options{Ephemeral: true})
	folder := mustQuery(t, server, "SHOW data_directory")
	for range 2 {
		if err := server.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if exists(folder) {
		t.Errorf("folder %s is left", folder)
	}
	if _, err := query(t, server, "SELECT 'up'"); err == nil {
		t.Error("the server answers after Stop")
	}
	if err := server.Restart(t.Context()); !errors.Is(err, servers.ErrStopped) {
		t.Errorf("Restart after Stop: got %v, want ErrStopped", err)
	}
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	o := Options{Settings: map[string]string{"wal_level": "sideways"}}.withDefaults()
	_, err := o.start(t.Context(), programs(t), "test")
	if !errors.Is(err, daemon.ErrEnded) || !strings.Contains(err.Error(), "wal_level") {
		t.Errorf("got %v, want ErrEnded and the server's own words", err)
	}
}

// programs returns PostgreSQL's programs on this machine, installed or unpacked.
func programs(t *testing.T) binaries {
	t.Helper()
	if bins := candidates(); len(bins) > 0 {
		return binaries{bin: bins[0]}
	}
	user, err := daemon.Unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	root, _ := unpacked(user)
	b, err := relocated(root)
	if err != nil {
		t.Fatalf("no PostgreSQL programs; run \"make test\", or install PostgreSQL: %v", err)
	}
	return b
}
