package lab

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/servers/pgserver"
)

// given is what this process keeps on the given server.
var given struct {
	once     sync.Once
	prefix   string
	template string

	mu      sync.Mutex
	created []string
}

// address returns the URL of the given server.
func address(t testing.TB) string {
	t.Helper()
	a := os.Getenv(pgserver.EnvURL)
	if a == "" {
		t.Fatal(pgserver.EnvURL + " is not set: run the tests by make test, which starts a server")
	}
	return a
}

// New returns a database of its own for a test.
func New(t testing.TB) *Database {
	t.Helper()
	server := address(t)
	given.once.Do(func() {
		given.prefix = "satchel_it_" + strings.ToLower(rand.Text()[:12])
		template := create(t, server, "")
		d := at(t, server, template)
		d.Migrate(t, "")
		d.Exec(t, business)
		given.template = template
	})
	if given.template == "" {
		t.Fatal("the template database was not made: see the first test that failed")
	}
	return at(t, server, create(t, server, given.template))
}

// create makes a database, remembered for removal.
func create(t testing.TB, server, template string) string {
	t.Helper()
	given.mu.Lock()
	name := fmt.Sprintf("%s_%d", given.prefix, len(given.created))
	given.created = append(given.created, name)
	given.mu.Unlock()
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " TEMPLATE " + template
	}
	(&Database{URL: server}).Exec(t, statement)
	return name
}

// dropAll removes what the process has made.
func dropAll() error {
	server := os.Getenv(pgserver.EnvURL)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	given.mu.Lock()
	defer given.mu.Unlock()
	for _, name := range given.created {
		if err := execute(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// Private starts a server that the test may crash, and returns a migrated database on it.
func Private(t testing.TB, settings map[string]string) (*pgserver.Server, *Database) {
	t.Helper()
	server, err := pgserver.Find(Context(t), pgserver.Options{Private: true, Ephemeral: true, Settings: settings, Logf: t.Logf})
	if err != nil {
		t.Fatalf("no PostgreSQL server; run make test, or install PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	d := at(t, server.URL, strings.TrimPrefix(u.Path, "/"))
	d.Migrate(t, "")
	d.Exec(t, business)
	return server, d
}
