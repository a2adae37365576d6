package listener

import (
	"net/url"
	"strings"
)

// pgxOnly are settings that pgx reads from a DSN and that lib/pq would send to the
// server, which knows nothing of them.
var pgxOnly = []string{
	"default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity", "min_read_buffer_size", "servicefile",
}

// forPQ returns the DSN without what only pgx understands, or why it is unusable.
func forPQ(dsn string) (clean, reason string) {
	if strings.TrimSpace(dsn) == "" {
		return "", "is empty"
	}
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn, ""
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", "is not a URL"
	}
	q := u.Query()
	for key := range q {
		if strings.HasPrefix(key, "pool_") {
			q.Del(key)
		}
	}
	for _, key := range pgxOnly {
		q.Del(key)
	}
	u.RawQuery = q.Encode()
	return u.String(), ""
}
