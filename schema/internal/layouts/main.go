// Command layouts writes the migrations in the layouts of other tools: goose/ and golang-migrate/ from migrations/. It is
// run by go generate, in the folder of the module:
//
//	go run ./internal/layouts
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "layouts:", err)
		os.Exit(1)
	}
}

// run replaces the generated folders below root.
func run(root string) error {
	migrations, err := read(os.DirFS(filepath.Join(root, "migrations")))
	if err != nil {
		return err
	}
	for folder, render := range layouts {
		target := filepath.Join(root, folder)
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		for _, m := range migrations {
			for name, text := range render(m) {
				if err := os.WriteFile(filepath.Join(target, name), []byte(text), 0o644); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read returns the migrations in order.
func read(dir fs.FS) ([]migration, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		m, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	return all, nil
}
