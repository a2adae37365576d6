package postgres

import "github.com/satchel-go/satchel/postgres/internal/reading"

// Config places a [Store]. The zero value uses the tables that the connection's
// search_path finds.
type Config struct {
	// Schema is the schema of the tables: one identifier, used with its case as given.
	// Empty leaves every table unqualified. A name that is not one valid identifier is
	// refused when the store is made.
	Schema string

	// paths switches off ways of finding rows, for tests of the others.
	paths reading.Paths
}
