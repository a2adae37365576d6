package config_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
)

func TestParseEmpty(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`{}`, ` { "inboxOutbox": {}, "cron": {"jobs": {}}, "db": {"schemas": {}} } `} {
		if tree, err := config.Parse([]byte(doc)); err != nil || tree != config.Default() {
			t.Errorf("%s: %+v, %v, want the default", doc, tree, err)
		}
	}
	for _, m := range []map[string]any{nil, {}, {"inboxOutbox": map[string]any(nil)}} {
		if tree, err := config.FromMap(m); err != nil || tree != config.Default() {
			t.Errorf("%v: %+v, %v, want the default", m, tree, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc  string
		want []string // all problems, without "satchel: "
	}{
		"nothing":        {``, []string{"configuration is not valid JSON from byte 0 on"}},
		"broken":         {`{"inboxOutbox": secret}`, []string{"configuration is not valid JSON from byte 17 on"}},
		"more than one":  {`{} {}`, []string{"configuration is not valid JSON from byte 4 on"}},
		"not UTF-8":      {"{\"\xff\":1}", []string{"configuration is not valid UTF-8"}},
		"null":           {`null`, []string{"configuration is null, not an object"}},
		"a list":         {`[{}]`, []string{"configuration is a list, not an object"}},
		"a number":       {`1`, []string{"configuration is a number, not an object"}},
		"null section":   {`{"db": null}`, []string{"db is null, not an object"}},
		"text section":   {`{"inboxOutbox": {"relay": "secret"}}`, []string{"inboxOutbox.relay is a text, not an object"}},
		"list section":   {`{"cron": {"jobs": []}}`, []string{"cron.jobs is a list, not an object"}},
		"flag section":   {`{"cron": {"jobs": {"outbox-cleanup": true}}}`, []string{"cron.jobs.outbox-cleanup is a boolean, not an object"}},
		"text as number": {`{"inboxOutbox": {"relay": {"batchSize": "secret"}}}`, []string{"inboxOutbox.relay.batchSize is a text, not a whole number from 1 to 10000"}},
		"list as word":   {`{"inboxOutbox": {"relay": {"strategy": ["secret"]}}}`, []string{"inboxOutbox.relay.strategy is a list, not one of LISTEN_NOTIFY, POLLING"}},
		"wrong word":     {`{"inboxOutbox": {"relay": {"strategy": "secret"}}}`, []string{"inboxOutbox.relay.strategy is not one of LISTEN_NOTIFY, POLLING"}},
		"list as days":   {`{"inboxOutbox": {"cleanup": {"inboxRetentionDays": []}}}`, []string{`inboxOutbox.cleanup.inboxRetentionDays is a list, not a whole number of days from 1 to 36500, nor "FOREVER"`}},
		"list as text":   {`{"db": {"schemas": {"inbox-outbox": []}}}`, []string{"db.schemas.inbox-outbox is a list, not a text"}},

		"other case":          {`{"inboxoutbox": {}}`, []string{"inboxoutbox is not a known key; did you mean inboxOutbox?"}},
		"misspelled":          {`{"inboxOutbox": {"relay": {"batchsise": 5}}}`, []string{"inboxOutbox.relay.batchsise is not a known key; did you mean inboxOutbox.relay.batchSize?"}},
		"unit forgotten":      {`{"inboxOutbox": {"relay": {"leaseTimeout": 5}}}`, []string{"inboxOutbox.relay.leaseTimeout is not a known key; did you mean inboxOutbox.relay.leaseTimeoutMs?"}},
		"nothing close":       {`{"inboxOutbox": {"relay": {"zone": 5}}}`, []string{"inboxOutbox.relay.zone is not a known key"}},
		"underscore":          {`{"db": {"schemas": {"inbox_outbox": "m"}}}`, []string{"db.schemas.inbox_outbox is not a known key; did you mean db.schemas.inbox-outbox?"}},
		"no separator":        {`{"db": {"schemas": {"inboxoutbox": "m"}}}`, []string{"db.schemas.inboxoutbox is not a known key; did you mean db.schemas.inbox-outbox?"}},
		"nothing close, few":  {`{"db": {"schemas": {"orders": "m"}}}`, []string{"db.schemas.orders is not a known key; known here: inbox-outbox"}},
		"unknown job":         {`{"cron": {"jobs": {"report": {"cron": "secret"}}}}`, []string{"cron.jobs.report is not a known key; known here: outbox-cleanup, outbox-stale-lease-recovery"}},
		"unknown in a job":    {`{"cron": {"jobs": {"outbox-cleanup": {"corn": "secret"}}}}`, []string{"cron.jobs.outbox-cleanup.corn is not a known key; did you mean cron.jobs.outbox-cleanup.cron?"}},
		"other applications'": {`{"flyway": {"password": "secret"}}`, []string{"flyway is not a known key; known here: inboxOutbox, cron, db"}},
		"a dot in a key":      {`{"inboxOutbox": {"relay.batchSize": 5}}`, []string{`inboxOutbox."relay.batchSize" is not a known key; known here: relay, cleanup`}},
		"an empty key":        {`{"": 1}`, []string{`"" is not a known key; known here: inboxOutbox, cron, db`}},
		"an odd key":          {`{"a\nb\u202e": 1}`, []string{`"a_b\u202e" is not a known key; known here: inboxOutbox, cron, db`}},
		"a long key":          {`{"` + strings.Repeat("k", 5000) + `": 1}`, []string{`"` + strings.Repeat("k", 64) + `" is not a known key; known here: inboxOutbox, cron, db`}},

		"a removed key": {
			`{"inboxOutbox": {"cleanup": {"cleanupIntervalHours": 6}}}`,
			[]string{"inboxOutbox.cleanup.cleanupIntervalHours was removed; set cron.jobs.outbox-cleanup.cron instead"},
		},
		"a key twice": {
			`{"inboxOutbox": {"relay": {"batchSize": 5, "batchSize": 6}}}`,
			[]string{"inboxOutbox.relay.batchSize is given more than once"},
		},
		"a key three times, once escaped": {
			`{"db": {}, "d\u0062": {}, "db": {}}`,
			[]string{"db is given more than once", "db is given more than once"},
		},
		"twice where nothing is known": {
			`{"x": [{"y": 1, "y": 2}]}`,
			[]string{"x[].y is given more than once", "x is not a known key; known here: inboxOutbox, cron, db"},
		},
		"a relation": {
			`{"inboxOutbox": {"relay": {"backoffBaseDelayMs": 300001}}}`,
			[]string{"inboxOutbox.relay.backoffMaxDelayMs is shorter than inboxOutbox.relay.backoffBaseDelayMs"},
		},
		"a relation with a refused key": {
			`{"inboxOutbox": {"relay": {"backoffBaseDelayMs": 300001, "backoffMaxDelayMs": "x"}}}`,
			[]string{"inboxOutbox.relay.backoffMaxDelayMs is a text, not a whole number from 1 to 604800000"},
		},
		"everything at once": {
			`{"inboxOutbox": {"relay": {"batchSize": 0, "strategie": 1, "backoffMaxDelayMs": 1}, "cleanup": null}, "cron": {"jobs": {"outbox-cleanup": {"cron": " "}}}}`,
			[]string{
				"cron.jobs.outbox-cleanup.cron is blank",
				"inboxOutbox.cleanup is null, not an object",
				"inboxOutbox.relay.batchSize is not a whole number from 1 to 10000",
				"inboxOutbox.relay.strategie is not a known key; did you mean inboxOutbox.relay.strategy?",
				"inboxOutbox.relay.backoffMaxDelayMs is shorter than inboxOutbox.relay.backoffBaseDelayMs",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := config.Parse([]byte(tc.doc))
			want := slices.Clone(tc.want)
			for i := range want {
				want[i] = "satchel: " + want[i]
			}
			if got := problems(err); !slices.Equal(got, want) || tree != (config.Tree{}) {
				t.Errorf("problems:\n%q\nwant\n%q", got, want)
			}
			if !fault.IsInvalid(err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v is no *fault.Invalid, or repeats a value", err)
			}
		})
	}
}

func TestParseDeepNesting(t *testing.T) {
	t.Parallel()
	for _, n := range []int{9_000, 2_000_000} {
		doc := `{"x":` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `}`
		if _, err := config.Parse([]byte(doc)); !fault.IsInvalid(err) {
			t.Errorf("%d levels: error = %v", n, err)
		}
	}
	// The path of a problem ends somewhere, too.
	const n = 5_000
	doc := strings.Repeat(`{"`+strings.Repeat("k", 60)+`":`, n) + `{"a": 1, "a": 2}` + strings.Repeat(`}`, n)
	if _, err := config.Parse([]byte(doc)); !fault.IsInvalid(err) || len(err.Error()) > 1000 {
		t.Errorf("error = %.2000v", err)
	}
}

// Loaders differ in the types they use for the same file.
func TestFromMapTypes(t *testing.T) {
	t.Parallel()
	type named string
	for name, v := range map[string]any{
		"int": 7, "int8": int8(7), "int64": int64(7), "uint": uint(7), "uint64": uint64(7), "float32": float32(7), "float64": 7.0,
		"json.Number": json.Number("7"), "json.Number with exponent": json.Number("70e-1"),
	} {
		for _, m := range []any{map[string]any{"batchSize": v}, map[named]any{"batchSize": v}} {
			tree, err := config.FromMap(map[string]any{"inboxOutbox": map[string]any{"relay": m}})
			if err != nil || tree.InboxOutbox.Relay.BatchSize != 7 {
				t.Errorf("%s in %T: %d, %v", name, m, tree.InboxOutbox.Relay.BatchSize, err)
			}
		}
	}
	for name, v := range map[string]any{
		"a text": "7", "null": nil, "a boolean": true, "a list": []int{7}, "an object": struct{ A int }{7}, "of another type": func() {},
		"a number": 7.5,
	} {
		_, err := config.FromMap(map[string]any{"inboxOutbox": map[string]any{"relay": map[string]any{"batchSize": v}}})
		if want := "inboxOutbox.relay.batchSize is " + name + ", not a whole number"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: error = %v, want %q", v, err, want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), 1e300, uint64(math.MaxUint64), int64(math.MinInt64), json.Number("x")} {
		if _, err := config.FromMap(map[string]any{"inboxOutbox": map[string]any{"relay": map[string]any{"batchSize": v}}}); !fault.IsInvalid(err) {
			t.Errorf("%v: error = %v", v, err)
		}
	}
	tree, err := config.FromMap(map[string]any{"db": map[string]any{"schemas": map[string]string{"inbox-outbox": "m"}}})
	if err != nil || tree.DB.Schemas.InboxOutbox != "m" {
		t.Errorf("map of texts: %+v, %v", tree.DB, err)
	}
	if _, err := config.FromMap(map[string]any{"db": map[int]any{1: 1}}); !fault.IsInvalid(err) {
		t.Errorf("map with numbers as keys: %v", err)
	}
}

// FromMap only reads its argument.
func TestFromMapLeavesTheMapAlone(t *testing.T) {
	t.Parallel()
	fresh := func() map[string]any {
		return map[string]any{"inboxOutbox": map[string]any{"relay": map[string]any{"batchSize": 5}}, "x": []any{1}}
	}
	m := fresh()
	if _, err := config.FromMap(m); err == nil || !reflect.DeepEqual(m, fresh()) {
		t.Errorf("map is now %v, %v", m, err)
	}
}

func TestUnmarshalIsStrict(t *testing.T) {
	t.Parallel()
	app := struct{ Satchel config.Tree }{Satchel: config.Default()}
	err := json.Unmarshal([]byte(`{"Satchel": {"cron": {"jobs": {"x": 1}}}}`), &app)
	if !fault.IsInvalid(err) || app.Satchel != config.Default() {
		t.Errorf("error = %v", err)
	}
	if err := json.Unmarshal([]byte(`{"Satchel": {"inboxOutbox": {"relay": {"batchSize": 5}}}}`), &app); err != nil || app.Satchel.InboxOutbox.Relay.BatchSize != 5 {
		t.Errorf("error = %v", err)
	}
}
