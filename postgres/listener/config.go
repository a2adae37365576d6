package listener

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/core/fault"
)

// Defaults of [Config].
const (
	// DefaultMinReconnect is the default of MinReconnect.
	DefaultMinReconnect = 100 * time.Millisecond
	// DefaultMaxReconnect is the default of MaxReconnect.
	DefaultMaxReconnect = 5 * time.Second
	// DefaultCheckEvery is the default of CheckEvery.
	DefaultCheckEvery = 10 * time.Second
	// DefaultEchoTimeout is the default of EchoTimeout.
	DefaultEchoTimeout = 3 * time.Second
)

// Bounds of [Config].
const (
	// ShortestReconnect bounds both pauses between attempts to connect.
	ShortestReconnect = time.Millisecond
	// LongestReconnect bounds both pauses between attempts to connect.
	LongestReconnect = time.Minute
	// MinCheckEvery is the shortest CheckEvery.
	MinCheckEvery = 100 * time.Millisecond
	// MaxCheckEvery is the longest CheckEvery: relays poll for as long as nobody notices.
	MaxCheckEvery = time.Hour
	// MinEchoTimeout is the shortest EchoTimeout.
	MinEchoTimeout = 10 * time.Millisecond
	// MaxEchoTimeout is the longest EchoTimeout.
	MaxEchoTimeout = time.Minute
)

// Config adjusts a [Listener]. Every field may be left zero, which means its default. No
// negative value has a meaning.
type Config struct {
	// MinReconnect and MaxReconnect bound the pause between attempts to connect, which
	// doubles. Defaults 100 ms and 5 s, or MinReconnect if that is longer; from 1 ms to one
	// minute, MaxReconnect not shorter than MinReconnect.
	MinReconnect, MaxReconnect time.Duration
	// CheckEvery is how often the listener notifies itself, by a connection made for it.
	// Default 10 s, from 100 ms to one hour.
	CheckEvery time.Duration
	// EchoTimeout is how long sending that notification, and then its arrival, may take
	// before the connection is replaced. Default 3 s, from 10 ms to one minute.
	EchoTimeout time.Duration
	// Logger receives one line per change of state; nil discards them.
	Logger *slog.Logger
}

// Validate reports every problem of the configuration, joined, each a *fault.Invalid;
// defaults apply first.
func (c Config) Validate() error {
	var problems []error
	refuse := func(field, reason string) { problems = append(problems, fault.NewInvalid("listener "+field, reason)) }
	for _, d := range []struct {
		field             string
		value             time.Duration
		shortest, longest time.Duration
	}{
		{"minReconnect", c.MinReconnect, ShortestReconnect, LongestReconnect},
		{"maxReconnect", c.MaxReconnect, ShortestReconnect, LongestReconnect},
		{"checkEvery", c.CheckEvery, MinCheckEvery, MaxCheckEvery},
		{"echoTimeout", c.EchoTimeout, MinEchoTimeout, MaxEchoTimeout},
	} {
		if d.value != 0 && (d.value < d.shortest || d.value > d.longest) {
			refuse(d.field, fmt.Sprintf("is not between %v and %v", d.shortest, d.longest))
		}
	}
	if c = c.withDefaults(); c.MaxReconnect < c.MinReconnect {
		refuse("maxReconnect", "is shorter than minReconnect")
	}
	return errors.Join(problems...)
}

// withDefaults returns a copy with every zero field set.
func (c Config) withDefaults() Config {
	c.MinReconnect = cmp.Or(c.MinReconnect, DefaultMinReconnect)
	c.MaxReconnect = cmp.Or(c.MaxReconnect, max(DefaultMaxReconnect, c.MinReconnect))
	c.CheckEvery = cmp.Or(c.CheckEvery, DefaultCheckEvery)
	c.EchoTimeout = cmp.Or(c.EchoTimeout, DefaultEchoTimeout)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
