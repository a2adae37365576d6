package outbox

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/propagation"
)

// DefaultReservedPrefix starts the names of the headers that satchel itself sends.
// An application header that starts with it, in any case, is refused.
const DefaultReservedPrefix = "satchel-"

// MaxReservedPrefix is the longest reserved prefix, in characters.
const MaxReservedPrefix = 64

// Config adjusts a [Publisher]. The zero value is ready to use.
type Config struct {
	// MaxAttempts is given to entries that do not say themselves. Default
	// [DefaultMaxAttempts]; not negative, at most [MaxMaxAttempts].
	MaxAttempts int
	// ReservedPrefix is the header prefix that applications must not use. It must be the
	// prefix that the adapters send. Default [DefaultReservedPrefix]; at most 64
	// characters of printable ASCII, without spaces and colons.
	ReservedPrefix string
	// Propagation captures durable context from the context.Context of a publish;
	// nil captures nothing.
	Propagation *propagation.Set
	// Fingerprint returns what identifies the physical destination an entry is meant
	// for (a cluster id, a namespace), or "" for none. A relay whose handler has
	// another fingerprint leaves the entry alone. Nil means none. It is called for each
	// entry, inside the caller's transaction: it must be quick and safe for concurrent use.
	Fingerprint func(t destination.Type, name string) string
}

// Validate reports every problem of the configuration, joined, each a *fault.Invalid;
// defaults apply first.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	refuse := func(field, reason string) { problems = append(problems, fault.NewInvalid("outbox "+field, reason)) }
	if c.MaxAttempts < 1 || c.MaxAttempts > MaxMaxAttempts {
		refuse("maxAttempts", fmt.Sprintf("is not between 1 and %d", MaxMaxAttempts))
	}
	if len(c.ReservedPrefix) > MaxReservedPrefix {
		refuse("reservedPrefix", "is longer than 64 characters")
	}
	for i := range len(c.ReservedPrefix) {
		if b := c.ReservedPrefix[i]; b <= ' ' || b > '~' || b == ':' {
			refuse("reservedPrefix", "has a character that is not printable ASCII, a space or a colon")
			break
		}
	}
	return errors.Join(problems...)
}

// withDefaults returns a copy with every zero field set that has a default.
func (c Config) withDefaults() Config {
	c.MaxAttempts = cmp.Or(c.MaxAttempts, DefaultMaxAttempts)
	c.ReservedPrefix = cmp.Or(c.ReservedPrefix, DefaultReservedPrefix)
	return c
}
