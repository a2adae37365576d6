package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/servers/pgserver"
)

// process is what the tests of one process share: where they can connect to, and what can
// be copied.
var process struct {
	mu       sync.Mutex
	server   *pgserver.Server
	err      error // why there is none; looked for once
	hasMain  bool
	template string
}

// Main runs the tests of a package and exits with their result. It belongs into TestMain.
// Tests then get copies of one migrated database; the copy's original and a server that was
// started are removed at the end.
func Main(m *testing.M) {
	process.mu.Lock()
	process.hasMain = true
	process.mu.Unlock()
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "postgrestest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// address returns the URL of the server, and the line about it.
func address(ctx context.Context) (address, line string, err error) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.server == nil && process.err == nil {
		process.server, process.err = pgserver.Find(ctx, pgserver.Options{Ephemeral: true})
	}
	if process.err != nil {
		return "", "", process.err
	}
	return process.server.URL, process.server.String(), nil
}

// templateDatabase returns the name of the database to copy, "" if there is none.
func templateDatabase(ctx context.Context, server string) (string, error) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if !process.hasMain || process.template != "" {
		return process.template, nil
	}
	name := freshName()
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	process.template = name
	target, err := withDatabase(server, name)
	if err != nil {
		return "", err
	}
	return name, migrate(ctx, target)
}

// stop removes what the process made.
func stop() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	if process.template != "" {
		err = execute(ctx, process.server.URL, "DROP DATABASE IF EXISTS "+process.template+" WITH (FORCE)")
	}
	return errors.Join(err, process.server.Stop(ctx))
}

func freshName() string { return "satchel_test_" + strings.ToLower(rand.Text()[:16]) }

// withDatabase points a connection string, of either form, to another database.
func withDatabase(address, name string) (string, error) {
	if !strings.Contains(address, "://") {
		return address + " dbname=" + name, nil // of two settings the later counts
	}
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// withSetting adds a setting of the session to a connection string of either form.
func withSetting(address, name, value string) (string, error) {
	if !strings.Contains(address, "://") {
		return address + " " + name + "=" + value, nil
	}
	u, err := parse(address)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the connection string is not a URL") // the cause would quote a password
	}
	return u, nil
}
