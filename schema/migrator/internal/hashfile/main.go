// Command hashfile writes the hash file of a migration directory, as "atlas migrate hash" does. It is for contributors
// who add a migration: go run ./internal/hashfile ../migrations
package main

import (
	"fmt"
	"os"

	"ariga.io/atlas/sql/migrate"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hashfile DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hashfile:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	dir, err := migrate.NewLocalDir(path)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return err
	}
	return migrate.WriteSumFile(dir, sum)
}
