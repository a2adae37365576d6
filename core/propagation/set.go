package propagation

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"regexp"
	"slices"

	"github.com/satchel-go/satchel/core/jsonb"
)

// MaxValueBytes is the largest stored value of one namespace, 8 KiB; a larger one is
// dropped with a warning.
const MaxValueBytes = 8 << 10

// Codec carries one namespace.
type Codec interface {
	// Namespace names the context: 1 to 64 characters from a-z, 0-9 and '-'. It is
	// stored, and it becomes part of a header name at some destinations.
	Namespace() string
	// Capture returns the value to store, or ok false when ctx holds none. The value
	// should be a JSON string where the namespace has a text form.
	Capture(ctx context.Context) (value json.RawMessage, ok bool)
	// Restore returns ctx with the stored value put back.
	Restore(ctx context.Context, value json.RawMessage) (context.Context, error)
}

var namespace = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// Set is the codecs that an application uses, on both sides. A nil *Set carries nothing.
type Set struct {
	codecs map[string]Codec
	order  []string
	logger *slog.Logger
}

// NewSet returns a set of codecs; of two with one namespace the later is used. A codec
// that is nil or whose namespace is malformed is left out, with a warning. A nil logger
// discards the warnings.
func NewSet(logger *slog.Logger, codecs ...Codec) *Set {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Set{codecs: make(map[string]Codec, len(codecs)), logger: logger}
	for i, c := range codecs {
		if c == nil || !namespace.MatchString(c.Namespace()) {
			logger.Warn("propagation codec left out: nil, or its namespace is malformed", "index", i)
			continue
		}
		s.codecs[c.Namespace()] = c
	}
	s.order = slices.Sorted(maps.Keys(s.codecs))
	return s
}

// Capture returns what ctx holds, by namespace; nil when it holds nothing.
func (s *Set) Capture(ctx context.Context) map[string]json.RawMessage {
	if s == nil {
		return nil
	}
	var out map[string]json.RawMessage
	for _, name := range s.order {
		value, ok := s.capture(ctx, name)
		if !ok {
			continue
		}
		if out == nil {
			out = make(map[string]json.RawMessage, len(s.order))
		}
		out[name] = value
	}
	return out
}

func (s *Set) capture(ctx context.Context, name string) (value json.RawMessage, ok bool) {
	defer func() {
		if recover() != nil {
			s.logger.WarnContext(ctx, "propagation context dropped: capturing it panicked", "namespace", name)
			value, ok = nil, false
		}
	}()
	value, ok = s.codecs[name].Capture(ctx)
	switch {
	case !ok:
		return nil, false
	case len(value) > MaxValueBytes:
		s.logger.WarnContext(ctx, "propagation context dropped: too large", "namespace", name, "bytes", len(value))
		return nil, false
	case jsonb.Check(value) != "":
		s.logger.WarnContext(ctx, "propagation context dropped: not storable JSON", "namespace", name)
		return nil, false
	}
	return value, true
}

// Restore returns ctx with every stored namespace that the set knows put back.
// Unknown namespaces are left alone; a value that its codec refuses is dropped.
func (s *Set) Restore(ctx context.Context, stored map[string]json.RawMessage) context.Context {
	if s == nil || len(stored) == 0 {
		return ctx
	}
	for _, name := range s.order {
		if value, ok := stored[name]; ok {
			ctx = s.restore(ctx, name, value)
		}
	}
	return ctx
}

func (s *Set) restore(ctx context.Context, name string, value json.RawMessage) (out context.Context) {
	defer func() {
		if recover() != nil {
			s.logger.WarnContext(ctx, "propagation context dropped: restoring it panicked", "namespace", name)
			out = ctx
		}
	}()
	restored, err := s.codecs[name].Restore(ctx, value)
	if err != nil || restored == nil {
		s.logger.WarnContext(ctx, "propagation context dropped: malformed", "namespace", name)
		return ctx
	}
	return restored
}
