package migrator

import (
	"fmt"
	"io/fs"

	"ariga.io/atlas/sql/migrate"

	"github.com/satchel-go/satchel/schema"
)

// directory reads a migration directory into the form that Atlas works on and checks it against its hash file.
func directory(source fs.FS) (*migrate.MemDir, error) {
	entries, err := fs.ReadDir(source, ".")
	if err != nil {
		return nil, fmt.Errorf("migrator: reading migrations: %w", err)
	}
	dir := &migrate.MemDir{}
	for _, entry := range entries {
		text, err := fs.ReadFile(source, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migrator: reading migrations: %w", err)
		}
		if err := dir.WriteFile(entry.Name(), text); err != nil {
			return nil, fmt.Errorf("migrator: reading migrations: %w", err)
		}
	}
	if err := migrate.Validate(dir); err != nil {
		return nil, fmt.Errorf("migrator: migrations do not match their hash file: %w", err)
	}
	return dir, nil
}

// knownVersion reports whether an embedded migration has this version.
func knownVersion(version string) bool {
	names, err := fs.Glob(schema.Migrations(), version+"_*.sql")
	return err == nil && len(names) == 1
}

// outsideTransaction reports whether the file asks to be run without a transaction around it. The directive is one of
// the Atlas command line; the library leaves it to its caller.
func outsideTransaction(file migrate.File) bool {
	local, ok := file.(*migrate.LocalFile)
	if !ok {
		return false
	}
	for _, mode := range local.Directive("txmode") {
		if mode == "none" {
			return true
		}
	}
	return false
}
