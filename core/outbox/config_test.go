package outbox_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

// TestConfigBounds: what Validate refuses, every publish refuses before anything is sent.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", outbox.MaxReservedPrefix)
	for name, c := range map[string]struct {
		config outbox.Config
		want   string // empty means accepted
	}{
		"zero":                 {outbox.Config{}, ""},
		"attempts, smallest":   {outbox.Config{MaxAttempts: 1}, ""},
		"attempts, largest":    {outbox.Config{MaxAttempts: outbox.MaxMaxAttempts}, ""},
		"attempts, negative":   {outbox.Config{MaxAttempts: -1}, "satchel: outbox maxAttempts is not between 1 and 2147483647"},
		"attempts, larger":     {outbox.Config{MaxAttempts: math.MaxInt32 + 1}, "satchel: outbox maxAttempts is not between 1 and 2147483647"},
		"prefix, longest":      {outbox.Config{ReservedPrefix: longest}, ""},
		"prefix, longer":       {outbox.Config{ReservedPrefix: longest + "x"}, "satchel: outbox reservedPrefix is longer than 64 characters"},
		"prefix, every letter": {outbox.Config{ReservedPrefix: "Acme_1.!~-"}, ""},
		"prefix, blank":        {outbox.Config{ReservedPrefix: " "}, "satchel: outbox reservedPrefix has a character that is not printable ASCII, a space or a colon"},
		"prefix, colon":        {outbox.Config{ReservedPrefix: "a:"}, "satchel: outbox reservedPrefix has a character that is not printable ASCII, a space or a colon"},
		"prefix, wide":         {outbox.Config{ReservedPrefix: "é"}, "satchel: outbox reservedPrefix has a character that is not printable ASCII, a space or a colon"},
		"prefix, line break":   {outbox.Config{ReservedPrefix: "a\n"}, "satchel: outbox reservedPrefix has a character that is not printable ASCII, a space or a colon"},
		"both": {
			outbox.Config{MaxAttempts: -1, ReservedPrefix: longest + "x"},
			"satchel: outbox maxAttempts is not between 1 and 2147483647\nsatchel: outbox reservedPrefix is longer than 64 characters",
		},
	} {
		refused := c.config.Validate()
		w := &writer{}
		_, err := outbox.NewPublisher[string](w, c.config).Publish(t.Context(), "tx", valid())
		if c.want == "" {
			if refused != nil || err != nil || w.calls != 1 {
				t.Errorf("%s: refused with %v, %v", name, refused, err)
			}
			continue
		}
		if !fault.IsInvalid(refused) || refused.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, refused, c.want)
		}
		if !fault.IsInvalid(err) || err.Error() != c.want || w.calls != 0 {
			t.Errorf("%s: published with %v, %d inserts", name, err, w.calls)
		}
	}
}

// TestNoWriter: a publisher that can store nothing says so instead of panicking.
func TestNoWriter(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*outbox.Publisher[string]{
		"zero":        {},
		"nil":         outbox.NewPublisher[string](nil, outbox.Config{}),
		"nil pointer": outbox.NewPublisher[string]((*writer)(nil), outbox.Config{}),
	} {
		_, one := p.Publish(t.Context(), "tx", valid())
		_, many := p.PublishAll(t.Context(), "tx", valid(), valid())
		_, none := p.PublishAll(t.Context(), "tx")
		for _, err := range []error{one, many, none} {
			var refused *fault.Invalid
			if !errors.As(err, &refused) || refused.Field != "outbox writer" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
