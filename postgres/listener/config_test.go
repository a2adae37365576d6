package listener_test

import (
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/postgres/listener"
)

// TestConfigBounds: the last good and the first bad value of every field; New refuses what
// Validate refuses.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	const (
		minimum = "satchel: listener minReconnect is not between 1ms and 1m0s"
		maximum = "satchel: listener maxReconnect is not between 1ms and 1m0s"
		check   = "satchel: listener checkEvery is not between 100ms and 1h0m0s"
		echo    = "satchel: listener echoTimeout is not between 10ms and 1m0s"
		crossed = "satchel: listener maxReconnect is shorter than minReconnect"
	)
	type config = listener.Config
	for name, c := range map[string]struct {
		config config
		want   string // empty means accepted
	}{
		"zero":                       {config{}, ""},
		"defaults":                   {config{MinReconnect: listener.DefaultMinReconnect, MaxReconnect: listener.DefaultMaxReconnect, CheckEvery: listener.DefaultCheckEvery, EchoTimeout: listener.DefaultEchoTimeout}, ""},
		"minReconnect, shortest":     {config{MinReconnect: listener.ShortestReconnect}, ""},
		"minReconnect, shorter":      {config{MinReconnect: listener.ShortestReconnect - 1}, minimum},
		"minReconnect, negative":     {config{MinReconnect: -1}, minimum},
		"minReconnect, longest":      {config{MinReconnect: listener.LongestReconnect}, ""},
		"minReconnect, longer":       {config{MinReconnect: listener.LongestReconnect + 1}, minimum},
		"maxReconnect, shortest":     {config{MinReconnect: listener.ShortestReconnect, MaxReconnect: listener.ShortestReconnect}, ""},
		"maxReconnect, longest":      {config{MaxReconnect: listener.LongestReconnect}, ""},
		"maxReconnect, longer":       {config{MaxReconnect: listener.LongestReconnect + 1}, maximum},
		"crossed":                    {config{MinReconnect: 2 * time.Second, MaxReconnect: time.Second}, crossed},
		"crossed by a default":       {config{MaxReconnect: listener.DefaultMinReconnect - 1}, crossed},
		"beyond the other's default": {config{MinReconnect: 30 * time.Second}, ""},
		"checkEvery, shortest":       {config{CheckEvery: listener.MinCheckEvery}, ""},
		"checkEvery, shorter":        {config{CheckEvery: listener.MinCheckEvery - 1}, check},
		"checkEvery, longest":        {config{CheckEvery: listener.MaxCheckEvery}, ""},
		"checkEvery, longer":         {config{CheckEvery: listener.MaxCheckEvery + 1}, check},
		"echoTimeout, shortest":      {config{EchoTimeout: listener.MinEchoTimeout}, ""},
		"echoTimeout, shorter":       {config{EchoTimeout: listener.MinEchoTimeout - 1}, echo},
		"echoTimeout, longest":       {config{EchoTimeout: listener.MaxEchoTimeout}, ""},
		"echoTimeout, longer":        {config{EchoTimeout: listener.MaxEchoTimeout + 1}, echo},
		"everything":                 {config{MinReconnect: -1, MaxReconnect: time.Hour, CheckEvery: 1, EchoTimeout: 1}, minimum + "\n" + maximum + "\n" + check + "\n" + echo},
	} {
		refused := c.config.Validate()
		_, err := listener.New("postgres://app@db.example/app", c.config)
		if c.want == "" {
			if refused != nil || err != nil {
				t.Errorf("%s: refused with %v, %v", name, refused, err)
			}
			continue
		}
		for _, err := range []error{refused, err} {
			if !fault.IsInvalid(err) || err.Error() != c.want {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
		}
	}
}

func TestStateNames(t *testing.T) {
	t.Parallel()
	for state, want := range map[listener.State]string{
		listener.Down: "down", listener.Connected: "connected", listener.Deaf: "deaf", -1: "unknown", 3: "unknown",
	} {
		if state.String() != want {
			t.Errorf("state %d is %q, want %q", int32(state), state, want)
		}
	}
}
