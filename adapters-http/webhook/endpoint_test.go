package webhook

import (
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/fault"
)

func TestEndpointValidate(t *testing.T) {
	t.Parallel()
	valid := Endpoint{ID: "orders.v1:eu_west-1", URL: "https://example.com:8443/hooks?a=b", Secrets: []Secret{NewSecret()}}
	many := make([]Secret, MaxSecrets+1)
	for i := range many {
		many[i] = NewSecret()
	}
	for name, c := range map[string]struct {
		change func(*Endpoint)
		want   []string // one part of each problem, in their order
	}{
		"valid":                   {func(*Endpoint) {}, nil},
		"longest id":              {func(e *Endpoint) { e.ID = strings.Repeat("a", 255) }, nil},
		"no id":                   {func(e *Endpoint) { e.ID = "" }, []string{"id is empty"}},
		"id too long":             {func(e *Endpoint) { e.ID = strings.Repeat("a", 256) }, []string{"id is longer"}},
		"id with a slash":         {func(e *Endpoint) { e.ID = "a/b" }, []string{"id has a character"}},
		"id is a url":             {func(e *Endpoint) { e.ID = "https://example.com" }, []string{"id has a character"}},
		"id not ascii":            {func(e *Endpoint) { e.ID = "öl" }, []string{"id has a character"}},
		"id with a blank":         {func(e *Endpoint) { e.ID = " " }, []string{"id has a character"}},
		"no url":                  {func(e *Endpoint) { e.URL = "" }, []string{"url is not an absolute"}},
		"relative url":            {func(e *Endpoint) { e.URL = "/hooks" }, []string{"url is not an absolute"}},
		"no host":                 {func(e *Endpoint) { e.URL = "https:///hooks" }, []string{"url is not an absolute"}},
		"opaque":                  {func(e *Endpoint) { e.URL = "https:example.com" }, []string{"url is not an absolute"}},
		"port only":               {func(e *Endpoint) { e.URL = "https://:443/" }, []string{"url is not an absolute"}},
		"malformed":               {func(e *Endpoint) { e.URL = "https://exa mple.com/secret%zz" }, []string{"url is not an absolute"}},
		"http":                    {func(e *Endpoint) { e.URL = "http://example.com" }, []string{"scheme http"}},
		"http allowed":            {func(e *Endpoint) { e.URL, e.AllowInsecure = "http://example.com", true }, nil},
		"ftp":                     {func(e *Endpoint) { e.URL, e.AllowInsecure = "ftp://example.com", true }, []string{"scheme other"}},
		"credentials":             {func(e *Endpoint) { e.URL = "https://user:pass@example.com" }, []string{"credentials"}},
		"fragment":                {func(e *Endpoint) { e.URL = "https://example.com/#a" }, []string{"fragment"}},
		"literal private":         {func(e *Endpoint) { e.URL = "https://10.1.2.3/" }, []string{"not public"}},
		"literal private v6":      {func(e *Endpoint) { e.URL = "https://[::ffff:127.0.0.1]:80/" }, []string{"not public"}},
		"literal private allowed": {func(e *Endpoint) { e.URL, e.AllowPrivate = "https://10.1.2.3/", true }, nil},
		"literal public":          {func(e *Endpoint) { e.URL = "https://9.9.9.9/" }, nil},
		"no secrets":              {func(e *Endpoint) { e.Secrets = nil }, []string{"secrets are missing"}},
		"empty secret":            {func(e *Endpoint) { e.Secrets = append(e.Secrets, Secret{}) }, []string{"secrets hold"}},
		"most secrets":            {func(e *Endpoint) { e.Secrets = many[:MaxSecrets] }, nil},
		"too many secrets":        {func(e *Endpoint) { e.Secrets = many }, []string{"more than 8"}},
		"longest timeout":         {func(e *Endpoint) { e.Timeout = MaxTimeout }, nil},
		"timeout too long":        {func(e *Endpoint) { e.Timeout = MaxTimeout + 1 }, []string{"timeout"}},
		"negative timeout":        {func(e *Endpoint) { e.Timeout = -time.Second }, []string{"timeout"}},
		"headers": {func(e *Endpoint) {
			e.Headers = map[string]string{"Authorization": "Bearer x", "X-Tenant": "ü\t1"}
		}, nil},
		"bad headers": {func(e *Endpoint) {
			e.Headers = map[string]string{
				"": "s3cret", "Connection": "s3cret", "WEBHOOK-ID": "s3cret", "X A": "s3cret",
				"X-B": "s3cret\r\nX-C: s3cret", "X-D": "s3cret", "x-d": "s3cret",
			}
		}, []string{`header "" has a name`, `"Connection" is set`, `"WEBHOOK-ID" is set`, `"X A" has a name`, `"X-B" has a value`, `"x-d" is there twice`}},
		"all at once": {
			func(e *Endpoint) { *e = Endpoint{URL: "http://u:p@127.0.0.1/#f", Timeout: -1} },
			[]string{"scheme http", "credentials", "fragment", "not public", "id is empty", "secrets are missing", "timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := valid.clone()
			c.change(&e)
			err := e.Validate()
			if len(c.want) == 0 {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if !fault.IsInvalid(err) {
				t.Fatalf("got %v, want an Invalid", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got %d problems, want %d:\n%v", len(lines), len(c.want), err)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("problem %d: got %q, want %q in it", i, lines[i], want)
				}
			}
			for _, value := range []string{e.URL, "s3cret", "user", "example.com"} {
				if value != "" && strings.Contains(err.Error(), value) {
					t.Errorf("the error repeats %q", value)
				}
			}
		})
	}
}

func TestEndpointString(t *testing.T) {
	t.Parallel()
	if got, want := (Endpoint{ID: "a", URL: "https://example.com"}).String(), `webhook endpoint "a"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
