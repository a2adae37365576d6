package layouts_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/golang-migrate/migrate/v4"
	_ "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"
)

// With the package migrator, which needs nothing else.
func Example_migrator() {
	err := inSchema("migrator", func(ctx context.Context, db *sql.DB, _ *url.URL) error {
		return migrator.Apply(ctx, db, migrator.Config{Schema: "messaging"})
	})
	fmt.Println(err)
	// Output: <nil>
}

// With goose, by any number of services at once.
func Example_goose() {
	err := inSchema("goose", func(ctx context.Context, db *sql.DB, _ *url.URL) error {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		provider, err := goose.NewProvider(goose.DialectPostgres, db, schema.Goose(),
			goose.WithTableName("satchel_goose_version"), goose.WithSessionLocker(locker))
		if err != nil {
			return err
		}
		_, err = provider.Up(ctx)
		return err
	})
	fmt.Println(err)
	// Output: <nil>
}

// With golang-migrate, by one process at a time.
func Example_golangMigrate() {
	err := inSchema("migrate", func(_ context.Context, _ *sql.DB, target *url.URL) error {
		query := target.Query()
		query.Set("x-migrations-table", "satchel_schema_migrations")
		target.Scheme, target.RawQuery = "pgx5", query.Encode()
		source, err := iofs.New(schema.GolangMigrate(), ".")
		if err != nil {
			return err
		}
		m, err := migrate.NewWithSourceInstance("iofs", source, target.String())
		if err != nil {
			return err
		}
		defer m.Close()
		if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
			return err
		}
		return nil
	})
	fmt.Println(err)
	// Output: <nil>
}

// inSchema runs apply on the schema messaging of a database that is there for one example only, with a search_path that
// leads to it, then verifies what was made.
func inSchema(example string, apply func(ctx context.Context, db *sql.DB, target *url.URL) error) error {
	ctx := context.Background()
	target, err := url.Parse(os.Getenv("SATCHEL_DATABASE_URL"))
	if err != nil {
		return err
	}
	admin, err := sql.Open("pgx", target.String())
	if err != nil {
		return err
	}
	defer admin.Close()
	name := fmt.Sprintf("satchel_example_%s_%d", example, os.Getpid())
	if _, err := admin.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return err
	}
	defer admin.ExecContext(ctx, `DROP DATABASE `+name+` WITH (FORCE)`)

	query := target.Query()
	query.Set("search_path", "messaging")
	target.Path, target.RawQuery = "/"+name, query.Encode()
	db, err := sql.Open("pgx", target.String())
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE SCHEMA messaging`); err != nil {
		return err
	}
	if err := apply(ctx, db, target); err != nil {
		return err
	}
	return migrator.Verify(ctx, db, migrator.Config{Schema: "messaging"})
}
