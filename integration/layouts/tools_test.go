package layouts

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5" // registers pgx5 urls
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"

	"github.com/satchel-go/satchel/schema"
)

// Versions at which a tool can stop.
const (
	version1  = 20260101000001
	backfill  = 20260201000002
	lastBuild = 20260201000006
)

// tool is one of the tools, as far as all of them are used alike.
type tool struct {
	name string
	// up applies the files up to a version, with the search_path of the url deciding where the tables go.
	up func(ctx context.Context, t *testing.T, address string, version int64) error
	// goOn makes the tool ready to apply a failed version again.
	goOn func(t *testing.T, address string, failed int64)
}

var tools = []tool{
	{
		name: "goose",
		up: func(ctx context.Context, t *testing.T, address string, version int64) error {
			_, err := newGoose(t, address, schema.Goose()).UpTo(ctx, version)
			return err
		},
		goOn: func(*testing.T, string, int64) {},
	},
	{
		name: "golang-migrate",
		up: func(_ context.Context, t *testing.T, address string, version int64) error {
			m := newMigrate(t, address, schema.GolangMigrate(), nil)
			err := m.Migrate(uint(version))
			if errors.Is(err, migrate.ErrNoChange) {
				return nil
			}
			return err
		},
		goOn: func(t *testing.T, address string, failed int64) {
			t.Helper()
			if err := newMigrate(t, address, schema.GolangMigrate(), nil).Force(previous(t, failed)); err != nil {
				t.Fatal(err)
			}
		},
	},
}

// each runs a test with every tool.
func each(t *testing.T, test func(t *testing.T, with tool)) {
	t.Helper()
	t.Parallel()
	for _, with := range tools {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			test(t, with)
		})
	}
}

func newGoose(t *testing.T, address string, files fs.FS, opts ...goose.ProviderOption) *goose.Provider {
	t.Helper()
	provider, err := goose.NewProvider(goose.DialectPostgres, open(t, address), files, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// newMigrate opens golang-migrate as its command line does, with options of its own in the url.
func newMigrate(t *testing.T, address string, files fs.FS, options map[string]string) *migrate.Migrate {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	target.Scheme = "pgx5"
	query := target.Query()
	for name, option := range options {
		query.Set(name, option)
	}
	target.RawQuery = query.Encode()
	source, err := iofs.New(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.NewWithSourceInstance("iofs", source, target.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		source, database := m.Close()
		if err := errors.Join(source, database); err != nil {
			t.Error(err)
		}
	})
	return m
}

// versions returns the versions of all migrations, in order.
func versions(t *testing.T) (all []int64) {
	t.Helper()
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		version, err := strconv.ParseInt(name[:14], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, version)
	}
	return all
}

func newest(t *testing.T) int64 {
	t.Helper()
	all := versions(t)
	return all[len(all)-1]
}

// previous returns the version before one.
func previous(t *testing.T, version int64) int {
	t.Helper()
	all := versions(t)
	i := slices.Index(all, version)
	if i < 1 {
		t.Fatalf("nothing precedes %d", version)
	}
	return int(all[i-1])
}
