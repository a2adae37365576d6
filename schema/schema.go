package schema

import (
	"embed"
	"io/fs"
)

// Version is the version of the newest migration: the part of its file name before the first underscore.
const Version = "20260301000003"

// The layouts of other tools are made from migrations/.
//
//go:generate go run ./internal/layouts

//go:embed migrations/*.sql migrations/atlas.sum goose/*.sql golang-migrate/*.sql
var files embed.FS

//go:embed schema.hcl
var desired string

// Migrations returns the migration directory: the SQL files, to be applied in the order of their names, and atlas.sum,
// the hash file that Atlas and the package migrator check before they apply anything. The file system is read-only and
// safe for concurrent use.
func Migrations() fs.FS { return folder("migrations") }

// Goose returns the same migrations, under the same names, for github.com/pressly/goose/v3: give it to goose.NewProvider.
// Each file is one statement to goose and none needs more of it than version 3 has. Concurrent index builds run outside
// a transaction. The way down raises SQLSTATE 0A000, because without one goose would forget a migration and undo
// nothing. The file system is read-only and safe for concurrent use.
func Goose() fs.FS { return folder("goose") }

// GolangMigrate returns the same migrations, under the same versions, for github.com/golang-migrate/migrate/v4: give it
// to the source iofs, with the database drivers pgx/v5 or postgres. Each file is sent as one message, so the server runs
// several statements in one transaction and a concurrent index build outside any. The option x-multi-statement must be
// off; with it the first file fails and changes nothing. The way down raises SQLSTATE 0A000, for the reason given for
// [Goose]. The file system is read-only and safe for concurrent use.
func GolangMigrate() fs.FS { return folder("golang-migrate") }

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic("schema: " + err.Error()) // the names are constants and valid, so this is unreachable
	}
	return sub
}

// HCL returns the desired state of tables and indexes in the language of Atlas, as found after the last migration.
// Functions, triggers and storage parameters are not part of it: they exist in the migrations only.
func HCL() string { return desired }
