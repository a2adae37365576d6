package wiring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/knadh/koanf/parsers/yaml"
)

func TestSecretDoesNotShow(t *testing.T) {
	t.Parallel()
	const secret Secret = somewhere
	printed := func(format string) func(any) string {
		return func(v any) string { return fmt.Sprintf(format, v) }
	}
	logged := func(handler func(*bytes.Buffer) slog.Handler) func(any) string {
		return func(v any) string {
			var out bytes.Buffer
			slog.New(handler(&out)).Info("connecting", "to", v)
			return out.String()
		}
	}
	ways := map[string]func(any) string{
		"text log": logged(func(out *bytes.Buffer) slog.Handler { return slog.NewTextHandler(out, nil) }),
		"JSON log": logged(func(out *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(out, nil) }),
		"JSON": func(v any) string {
			doc, err := json.Marshal(v)
			return fmt.Sprint(string(doc), err)
		},
		"YAML": func(v any) string {
			doc, err := yaml.Parser().Marshal(map[string]any{"v": v})
			return fmt.Sprint(string(doc), err)
		},
		"print": func(v any) string { return fmt.Sprint(v) },
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%e", "%c", "%U", "%10v", "%-40s", "%.2s"} {
		ways[verb] = printed(verb)
	}
	// A struct is printed field by field, and by pointer with its address at most.
	for name, v := range map[string]any{
		"itself": secret, "pointer": new(secret), "field": Database{URL: secret, ListenURL: secret},
		"list": []Secret{secret}, "map": map[string]Secret{"url": secret}, "inputs": Inputs{Database: Database{URL: secret}}.Database,
	} {
		for way, show := range ways {
			text := show(v)
			hex := fmt.Sprintf("%x", "hunter2")
			if strings.Contains(text, "hunter2") || strings.Contains(strings.ToLower(text), hex) {
				t.Errorf("%s of %s shows the secret: %s", way, name, text)
			}
			if !strings.Contains(text, redacted) && (name != "pointer" || !strings.HasPrefix(way, "%")) {
				t.Errorf("%s of %s says nothing in its place: %s", way, name, text)
			}
		}
	}
}
