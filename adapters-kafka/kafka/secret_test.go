package kafka_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
)

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	const password = "hunter2"
	printed := func(format string) func(any) string {
		return func(v any) string { return fmt.Sprintf(format, v) }
	}
	logged := func(handler func(*bytes.Buffer) slog.Handler) func(any) string {
		return func(v any) string {
			var out bytes.Buffer
			slog.New(handler(&out)).Info("connecting", "with", v)
			return out.String()
		}
	}
	ways := map[string]func(any) string{
		"text log": logged(func(out *bytes.Buffer) slog.Handler { return slog.NewTextHandler(out, nil) }),
		"JSON log": logged(func(out *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(out, nil) }),
		"print":    func(v any) string { return fmt.Sprint(v) },
		"JSON": func(v any) string {
			doc, err := json.Marshal(v)
			return fmt.Sprint(string(doc), err)
		},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%t", "%e", "%c", "%10v", "%.2s"} {
		ways[verb] = printed(verb)
	}
	sasl := kafka.SASL{Mechanism: kafka.Plain, User: "u", Password: password}
	for name, v := range map[string]any{
		"the secret": sasl.Password, "SASL": sasl, "a connection": kafka.Connection{SASL: sasl}, "a list": []kafka.Secret{password},
	} {
		for way, show := range ways {
			text := show(v)
			if strings.Contains(text, password) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", password)) {
				t.Errorf("%s of %s shows the password: %s", way, name, text)
			}
			if !strings.Contains(text, "[redacted]") {
				t.Errorf("%s of %s: nothing stands for the password: %s", way, name, text)
			}
		}
	}
	// The whole configuration has functions, which JSON cannot hold.
	cfg := kafka.Config{Connection: kafka.Connection{SASL: sasl}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x"} {
		if text := fmt.Sprintf(verb, cfg); strings.Contains(text, password) || strings.Contains(text, fmt.Sprintf("%x", password)) {
			t.Errorf("%s of the configuration shows the password: %s", verb, text)
		}
	}
}
