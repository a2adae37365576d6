package migrator

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is the length at which PostgreSQL silently cuts an identifier.
const maxNameBytes = 63

// SchemaNameError reports a Config.Schema that is not the name of one schema that tables may be put into.
type SchemaNameError struct {
	Reason string // completes the sentence "schema name ...", without the name
}

// Error gives the reason, never the name.
func (e *SchemaNameError) Error() string {
	return fmt.Sprintf("satchel: schema name %s", e.Reason)
}

// checkSchemaName accepts the names that the store of module postgres accepts: what PostgreSQL takes in quotes, except
// what would mean something else.
func checkSchemaName(name string) error {
	refuse := func(reason string) error { return &SchemaNameError{Reason: reason} }
	switch {
	case strings.TrimSpace(name) == "":
		return refuse("is blank")
	case len(name) > maxNameBytes:
		return refuse("is longer than 63 bytes")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return refuse("is not valid text")
	case strings.Contains(name, "."):
		return refuse("has a dot: one name is wanted, not a qualified one")
	case strings.HasPrefix(name, "pg_"), name == "information_schema", name == "$user":
		return refuse("is reserved by PostgreSQL")
	}
	return nil
}

// quoteName returns name as an identifier in double quotes.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
