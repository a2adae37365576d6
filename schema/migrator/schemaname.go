package migrator

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxNameBytes is the length at which PostgreSQL silently cuts an identifier.
const maxNameBytes = 63

// SchemaNameError reports a Config.Schema that is not the name of one schema that tables may be put into.
type SchemaNameError struct {
	Reason string // why it was refused, without the name
}

// Error gives the reason, never the name.
func (e *SchemaNameError) Error() string {
	return fmt.Sprintf("migrator: Config.Schema is not usable: %s", e.Reason)
}

// checkSchemaName accepts every identifier that PostgreSQL would take in quotes, except those that mean something else.
func checkSchemaName(name string) error {
	refuse := func(reason string) error { return &SchemaNameError{Reason: reason} }
	switch {
	case strings.TrimSpace(name) == "":
		return refuse("it is blank")
	case len(name) > maxNameBytes:
		return refuse("it is longer than 63 bytes")
	case !utf8.ValidString(name):
		return refuse("it is not valid UTF-8")
	case strings.ContainsRune(name, 0):
		return refuse("it contains NUL")
	case strings.Contains(name, "."):
		return refuse("it contains a dot: one name is wanted, not a qualified one")
	case strings.HasPrefix(name, "pg_"):
		return refuse("PostgreSQL reserves names that begin with pg_")
	case name == "information_schema":
		return refuse("it belongs to PostgreSQL")
	case name == "$user":
		return refuse("in a search_path it stands for the current user, in quotes too")
	}
	return nil
}

// quoteName returns name as an identifier in double quotes.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
