package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
)

// vectorKey is the key of the signature vector, see TestSignVector.
const vectorKey = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func mustSecret(t testing.TB, text string) Secret {
	t.Helper()
	s, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseSecret(t *testing.T) {
	t.Parallel()
	of := func(n int) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, n)) }
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"with prefix":      {secretPrefix + vectorKey, true},
		"without prefix":   {vectorKey, true},
		"shortest":         {of(MinSecretBytes), true},
		"longest":          {of(MaxSecretBytes), true},
		"too short":        {of(MinSecretBytes - 1), false},
		"too long":         {of(MaxSecretBytes + 1), false},
		"empty":            {"", false},
		"prefix only":      {secretPrefix, false},
		"other prefix":     {"whsk_" + vectorKey, false},
		"not base64":       {secretPrefix + "not base64 at all, at all, at all", false},
		"url base64":       {strings.Repeat("-_-_", 8), false},
		"no padding":       {strings.TrimRight(of(25), "="), false},
		"placeholder":      {redacted, false},
		"space at the end": {vectorKey + " ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSecret(c.text)
			if c.ok {
				if err != nil || s.IsZero() || strings.TrimPrefix(c.text, secretPrefix) != strings.TrimPrefix(s.Reveal(), secretPrefix) {
					t.Fatalf("got error %v, or another secret", err)
				}
				return
			}
			if !fault.IsInvalid(err) || !s.IsZero() {
				t.Fatalf("got %v, want an Invalid and no secret", err)
			}
			if c.text != "" && strings.Contains(err.Error(), strings.TrimPrefix(c.text, secretPrefix)) && c.text != secretPrefix {
				t.Fatal("the error repeats the text")
			}
		})
	}
}

func TestNewSecretRoundTrip(t *testing.T) {
	t.Parallel()
	a, b := NewSecret(), NewSecret()
	if a.Reveal() == b.Reveal() {
		t.Fatal("two new secrets are equal")
	}
	if got := mustSecret(t, a.Reveal()); got.Reveal() != a.Reveal() {
		t.Fatal("a revealed secret does not parse to itself")
	}
	if a.String() != redacted || a.GoString() != redacted {
		t.Fatal("a secret as a text is not the placeholder")
	}
	if (Secret{}).Reveal() != "" {
		t.Fatal("the zero secret reveals something")
	}
}

func TestSecretUnmarshalText(t *testing.T) {
	t.Parallel()
	var config struct{ Secret Secret }
	if err := json.Unmarshal([]byte(`{"Secret":"whsec_`+vectorKey+`"}`), &config); err != nil {
		t.Fatal(err)
	}
	if config.Secret.Reveal() != secretPrefix+vectorKey {
		t.Fatal("another secret was read")
	}
	dump, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(dump, &config); !fault.IsInvalid(err) {
		t.Fatalf("a dumped configuration was read back: %v", err)
	}
	if config.Secret.Reveal() != secretPrefix+vectorKey {
		t.Fatal("a failed read changed the secret")
	}
}

// Nothing that prints secrets, endpoints or what holds them may show a key, a URL
// or a header value.
func TestPrintingShowsNothing(t *testing.T) {
	t.Parallel()
	secret := mustSecret(t, vectorKey)
	endpoint := Endpoint{
		ID: "orders", URL: "https://example.com/hook/url-token", Secrets: []Secret{secret},
		Headers: map[string]string{"Authorization": "header-token"},
	}
	registry, err := NewRegistry(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := NewHandler(Config{Source: registry})
	if err != nil {
		t.Fatal(err)
	}
	defer handler.Close(t.Context())
	private := struct {
		s  Secret
		ss []Secret
	}{secret, []Secret{secret}}
	values := map[string]any{
		"secret": secret, "pointer": &secret, "slice": []Secret{secret}, "private": private,
		"endpoint": endpoint, "endpoint pointer": &endpoint, "endpoints": []Endpoint{endpoint},
		"config": Config{Source: registry}, "receiver": ReceiverConfig[int]{Secrets: []Secret{secret}},
	}
	raw := string(secret.key())
	for name, v := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%10v"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if name != "config" { // slog's JSON handler cannot marshal it
			slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
		for what, leak := range map[string]string{
			"key": vectorKey, "raw key": raw, "hex key": fmt.Sprintf("%x", raw), "decimal key": fmt.Sprintf("%d", []byte(raw))[1:20],
		} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("printing %s shows the %s", name, what)
			}
		}
		// A slice of endpoints in JSON is an explicit dump, but a log line is not.
		if name == "endpoint" || name == "endpoint pointer" {
			for _, leak := range []string{"url-token", "header-token"} {
				if strings.Contains(out.String(), leak) {
					t.Errorf("printing %s shows the %s", name, leak)
				}
			}
		}
	}
}
