package schema

import (
	"embed"
	"io/fs"
)

// Version is the version of the newest migration: the part of its file name before the first underscore.
const Version = "20260301000003"

//go:embed migrations/*.sql migrations/atlas.sum
var files embed.FS

//go:embed schema.hcl
var desired string

// Migrations returns the migration directory: the SQL files, to be applied in the order of their names, and atlas.sum,
// the hash file that Atlas and the package migrator check before they apply anything. The file system is read-only and
// safe for concurrent use.
func Migrations() fs.FS {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic("schema: " + err.Error()) // the path is a constant and valid, so this is unreachable
	}
	return sub
}

// HCL returns the desired state of tables and indexes in the language of Atlas, as found after the last migration.
// Functions, triggers and storage parameters are not part of it: they exist in the migrations only.
func HCL() string { return desired }
