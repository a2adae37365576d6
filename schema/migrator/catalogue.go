package migrator

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

//go:embed catalogue.sql
var catalogueSQL string

// expectedCatalogue is what catalogueSQL returns after the last migration, one tab-separated line per object. A test
// compares it with a database that was just migrated, and writes it when it is run with -update.
//
//go:embed catalogue.txt
var expectedCatalogue string

// object is something of the schema that can be missing or different.
type object struct{ kind, name string }

// catalogue maps objects to their definitions.
type catalogue map[object]string

// expected parses the embedded catalogue.
func expected() catalogue {
	objects := catalogue{}
	for line := range strings.Lines(expectedCatalogue) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, definition, _ := strings.Cut(rest, "\t")
		objects[object{kind, name}] = definition
	}
	return objects
}

// names returns the names of all objects of a kind.
func (c catalogue) names(kind string) []string {
	var names []string
	for o := range c {
		if o.kind == kind {
			names = append(names, o.name)
		}
	}
	return names
}

// readCatalogue describes the objects of the current schema, among the tables and functions given.
func readCatalogue(ctx context.Context, q querier, tables, functions []string) (_ catalogue, err error) {
	rows, err := q.QueryContext(ctx, catalogueSQL, textArray(tables), textArray(functions))
	if err != nil {
		return nil, fmt.Errorf("migrator: reading the catalogue: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	objects := catalogue{}
	for rows.Next() {
		var o object
		var definition string
		if err := rows.Scan(&o.kind, &o.name, &definition); err != nil {
			return nil, fmt.Errorf("migrator: reading the catalogue: %w", err)
		}
		objects[o] = definition
	}
	return objects, rows.Err()
}

// textArray writes names as an array literal, which every driver can pass as text. The names are our own and plain.
func textArray(names []string) string { return "{" + strings.Join(names, ",") + "}" }

// functionNames cuts the argument lists off.
func functionNames(signatures []string) []string {
	names := make([]string, len(signatures))
	for i, signature := range signatures {
		names[i], _, _ = strings.Cut(signature, "(")
	}
	return names
}
