package propagation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/propagation"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestStandardRoundTrip(t *testing.T) {
	t.Parallel()
	set := propagation.NewSet(nil, propagation.Standard()...)
	in := map[string]string{
		propagation.TraceParent: parent, propagation.TraceState: "rojo=1,congo=2", propagation.Baggage: "user=7",
		propagation.Correlation: "c-1 \"quoted\\\"", propagation.Locale: "de-CH-1996",
	}
	ctx := context.Background()
	for namespace, text := range in {
		ctx = propagation.With(ctx, namespace, text)
	}
	stored := set.Capture(ctx)
	if len(stored) != len(in) {
		t.Fatalf("captured %v", stored)
	}
	restored := set.Restore(context.Background(), stored)
	for namespace, want := range in {
		if got := propagation.From(restored, namespace); got != want {
			t.Errorf("%s: %q, want %q", namespace, got, want)
		}
	}
	if got := set.Capture(context.Background()); got != nil {
		t.Errorf("captured %v from an empty context", got)
	}
}

// TestStandardForms checks each codec in both directions: what cannot be restored is
// not captured either.
func TestStandardForms(t *testing.T) {
	t.Parallel()
	set := propagation.NewSet(nil, propagation.Standard()...)
	for _, c := range []struct {
		namespace, text string
		ok              bool
	}{
		{propagation.TraceParent, parent, true},
		{propagation.TraceParent, strings.ToUpper(parent), false},
		{propagation.TraceParent, parent + "-x", false},
		{propagation.TraceParent, parent + "\n", false},
		{propagation.TraceParent, parent[1:], false},
		{propagation.TraceState, "a=b", true},
		{propagation.TraceState, "a=\u00e9", false},
		{propagation.Baggage, "a=b;c", true},
		{propagation.Baggage, "a\r\nb", false},
		{propagation.Correlation, " ", true},
		{propagation.Correlation, "~", true},
		{propagation.Correlation, "\x7f", false},
		{propagation.Correlation, "\x1f", false},
		{propagation.Correlation, "", false},
		{propagation.Locale, "en", true},
		{propagation.Locale, "abcdefgh-12345678", true},
		{propagation.Locale, "abcdefghi", false},
		{propagation.Locale, "en-", false},
		{propagation.Locale, "-en", false},
		{propagation.Locale, "en_US", false},
	} {
		_, captured := set.Capture(propagation.With(t.Context(), c.namespace, c.text))[c.namespace]
		doc, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		ctx := set.Restore(t.Context(), map[string]json.RawMessage{c.namespace: doc})
		restored := c.text != "" && propagation.From(ctx, c.namespace) == c.text
		if captured != c.ok || restored != c.ok {
			t.Errorf("%s %q: captured %v, restored %v, want %v", c.namespace, c.text, captured, restored, c.ok)
		}
	}
}

// codec does what its fields say.
type codec struct {
	name    string
	capture func() (json.RawMessage, bool)
	restore func(ctx context.Context) (context.Context, error)
}

func (c codec) Namespace() string                               { return c.name }
func (c codec) Capture(context.Context) (json.RawMessage, bool) { return c.capture() }
func (c codec) Restore(ctx context.Context, _ json.RawMessage) (context.Context, error) {
	return c.restore(ctx)
}

func TestCaptureDropsWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	text := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }
	for _, c := range []struct {
		name    string
		capture func() (json.RawMessage, bool)
		ok      bool
		warning string
	}{
		{"fine", func() (json.RawMessage, bool) { return text(3), true }, true, ""},
		{"an object", func() (json.RawMessage, bool) { return json.RawMessage(`{"a":1}`), true }, true, ""},
		{"nothing", func() (json.RawMessage, bool) { return text(3), false }, false, ""},
		{"largest", func() (json.RawMessage, bool) { return text(propagation.MaxValueBytes), true }, true, ""},
		{"too large", func() (json.RawMessage, bool) { return text(propagation.MaxValueBytes + 1), true }, false, "too large"},
		{"not JSON", func() (json.RawMessage, bool) { return json.RawMessage(`secret`), true }, false, "not storable JSON"},
		{"nil", func() (json.RawMessage, bool) { return nil, true }, false, "not storable JSON"},
		{"a NUL", func() (json.RawMessage, bool) { return json.RawMessage(`"\u0000"`), true }, false, "not storable JSON"},
		{"a panic", func() (json.RawMessage, bool) { panic("secret") }, false, "panicked"},
	} {
		var log bytes.Buffer
		set := propagation.NewSet(slog.New(slog.NewTextHandler(&log, nil)), codec{name: "x", capture: c.capture},
			codec{name: "y", capture: func() (json.RawMessage, bool) { return text(3), true }})
		stored := set.Capture(t.Context())
		if _, ok := stored["x"]; ok != c.ok || len(stored["y"]) == 0 {
			t.Errorf("%s: captured %v", c.name, stored)
		}
		if (c.warning == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.warning) || strings.Contains(log.String(), "secret") {
			t.Errorf("%s: logged %q, want a warning with %q", c.name, log.String(), c.warning)
		}
	}
}

func TestRestoreGoesOnWithoutWhatFails(t *testing.T) {
	t.Parallel()
	type mark struct{}
	good := codec{name: "z", restore: func(ctx context.Context) (context.Context, error) {
		return context.WithValue(ctx, mark{}, true), nil
	}}
	stored := map[string]json.RawMessage{"x": json.RawMessage(`1`), "z": json.RawMessage(`1`), "unknown": json.RawMessage(`1`)}
	for name, restore := range map[string]func(ctx context.Context) (context.Context, error){
		"error":       func(context.Context) (context.Context, error) { return nil, errors.New("secret") },
		"panic":       func(context.Context) (context.Context, error) { panic("secret") },
		"nil context": func(context.Context) (context.Context, error) { return nil, nil },
	} {
		var log bytes.Buffer
		set := propagation.NewSet(slog.New(slog.NewTextHandler(&log, nil)), codec{name: "x", restore: restore}, good)
		ctx := set.Restore(t.Context(), stored)
		if ctx == nil || ctx.Value(mark{}) != true {
			t.Errorf("%s: the other namespace was lost", name)
		}
		if log.Len() == 0 || strings.Contains(log.String(), "secret") {
			t.Errorf("%s: logged %q", name, log.String())
		}
	}
}

func TestSetWithoutCodecs(t *testing.T) {
	t.Parallel()
	ctx := propagation.With(t.Context(), propagation.Correlation, "c")
	stored := map[string]json.RawMessage{propagation.Correlation: json.RawMessage(`"d"`)}
	for name, set := range map[string]*propagation.Set{"nil": nil, "empty": propagation.NewSet(nil)} {
		if got := set.Capture(ctx); got != nil {
			t.Errorf("%s set captured %v", name, got)
		}
		if got := propagation.From(set.Restore(ctx, stored), propagation.Correlation); got != "c" {
			t.Errorf("%s set restored %q", name, got)
		}
	}
}

func TestLaterCodecReplacesEarlier(t *testing.T) {
	t.Parallel()
	value := func(s string) func() (json.RawMessage, bool) {
		return func() (json.RawMessage, bool) { return json.RawMessage(s), true }
	}
	set := propagation.NewSet(nil, codec{name: "x", capture: value(`1`)}, codec{name: "x", capture: value(`2`)})
	if got := set.Capture(t.Context()); len(got) != 1 || string(got["x"]) != "2" {
		t.Errorf("captured %s", got)
	}
}

// FuzzRestore gives the standard codecs any stored document: nothing panics, and what
// is restored can be captured again.
func FuzzRestore(f *testing.F) {
	for _, seed := range []string{`"` + parent + `"`, `"de"`, `1`, `{`, `null`, `"\u0000"`} {
		f.Add(seed)
	}
	set := propagation.NewSet(nil, propagation.Standard()...)
	f.Fuzz(func(t *testing.T, doc string) {
		stored := map[string]json.RawMessage{}
		for _, c := range propagation.Standard() {
			stored[c.Namespace()] = json.RawMessage(doc)
		}
		ctx := set.Restore(context.Background(), stored)
		again := set.Capture(ctx)
		for _, c := range propagation.Standard() {
			text := propagation.From(ctx, c.Namespace())
			if _, ok := again[c.Namespace()]; ok != (text != "") && len(doc) < propagation.MaxValueBytes {
				t.Errorf("%s: restored %q, captured again: %v", c.Namespace(), text, ok)
			}
		}
	})
}
