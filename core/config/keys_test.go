package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
)

// keyTest describes one key from outside, in JSON.
type keyTest struct {
	byDefault string
	bounds    string   // as the package documentation puts it
	accepted  []string // each differs from the default
	refused   []string
}

const (
	ms        = "to 604800000"
	tooLongMs = "604800001"
)

// keyTests has every key; TestEveryKeyIsTested sees to that.
var keyTests = map[string]keyTest{
	"inboxOutbox.relay.strategy":            {`"LISTEN_NOTIFY"`, "or POLLING", []string{`"POLLING"`}, []string{`"polling"`, `""`, `1`, `null`, `["POLLING"]`}},
	"inboxOutbox.relay.pollingIntervalMs":   {`1000`, "1 " + ms, []string{`1`, `604800000`, `2e3`}, []string{`0`, `-1`, tooLongMs, `"1000"`, `1.5`, `null`, `true`}},
	"inboxOutbox.relay.batchSize":           {`50`, "1 to 10000", []string{`1`, `10000`}, []string{`0`, `10001`, `99999999999999999999`, `1e400`, `{}`, `[]`}},
	"inboxOutbox.relay.concurrency":         {`0`, "0 to 10000", []string{`1`, `10000`}, []string{`-1`, `10001`}},
	"inboxOutbox.relay.prefetch":            {`0`, "0 to 10000", []string{`1`, `10000`}, []string{`-1`, `10001`}},
	"inboxOutbox.relay.runLength":           {`0`, "0 to 10000", []string{`1`, `10000`}, []string{`-1`, `10001`}},
	"inboxOutbox.relay.leaseTimeoutMs":      {`30000`, "300 " + ms, []string{`300`, `604800000`}, []string{`299`, tooLongMs}},
	"inboxOutbox.relay.deliveryTimeoutMs":   {`30000`, "1 " + ms, []string{`1`, `604800000`}, []string{`0`, tooLongMs}},
	"inboxOutbox.relay.drainTimeoutMs":      {`10000`, "1 " + ms, []string{`1`, `604800000`}, []string{`0`, tooLongMs}},
	"inboxOutbox.relay.maxAttempts":         {`20`, "1 to 1000000", []string{`1`, `1000000`}, []string{`0`, `1000001`}},
	"inboxOutbox.relay.backoffBaseDelayMs":  {`1000`, "1 " + ms, []string{`1`, `300000`}, []string{`0`, tooLongMs}},
	"inboxOutbox.relay.backoffMaxDelayMs":   {`300000`, "backoffBaseDelayMs " + ms, []string{`1000`, `604800000`}, []string{`0`, `999`, tooLongMs}},
	"inboxOutbox.relay.unresolvableDelayMs": {`30000`, "1 " + ms, []string{`1`, `604800000`}, []string{`0`, tooLongMs}},
	"inboxOutbox.relay.instances":           {`1`, "1 to 100", []string{`2`, `100`}, []string{`0`, `101`}},
	"inboxOutbox.relay.onPublished":         {`"KEEP"`, "or ARCHIVE or DELETE", []string{`"ARCHIVE"`, `"DELETE"`}, []string{`"keep"`, `"DROP"`, `false`}},

	"inboxOutbox.cleanup.publishedRetentionDays":  {`7`, `1 to 36500, or "FOREVER"`, []string{`1`, `36500`, `"FOREVER"`}, []string{`0`, `-1`, `36501`, `2147483647`, `"forever"`, `"7"`, `0.5`, `null`}},
	"inboxOutbox.cleanup.deadLetterRetentionDays": {`30`, `1 to 36500, or "FOREVER"`, []string{`1`, `36500`, `"FOREVER"`}, []string{`0`, `36501`, `{}`}},
	"inboxOutbox.cleanup.inboxRetentionDays":      {`30`, `1 to 36500, or "FOREVER"`, []string{`1`, `36500`, `"FOREVER"`}, []string{`0`, `36501`, `[]`}},
	"inboxOutbox.cleanup.cleanupBatchSize":        {`1000`, "1 to 10000", []string{`1`, `10000`}, []string{`0`, `10001`}},
	"inboxOutbox.cleanup.maxClaims":               {`5`, "1 to 1000", []string{`1`, `1000`}, []string{`0`, `1001`}},

	"cron.jobs.outbox-cleanup.cron":              {`"0 0 */6 * * *"`, "not blank", []string{`"@daily"`}, []string{`""`, `" "`, `5`, `"a\u0000"`, `"` + strings.Repeat("*", 256) + `"`}},
	"cron.jobs.outbox-stale-lease-recovery.cron": {`"*/30 * * * * *"`, "not blank", []string{`"* * * * * *"`}, []string{`""`, `null`}},

	"db.schemas.inbox-outbox": {``, "one schema name", []string{`"messaging"`, `"My Schema"`, `"` + strings.Repeat("s", 63) + `"`}, []string{
		`""`, `" "`, `"a.b"`, `"pg_catalog"`, `"information_schema"`, `"$user"`, `"a\u0000b"`, `"` + strings.Repeat("s", 64) + `"`, `3`,
	}},
}

// document nests a JSON value below a path.
func document(path, value string) []byte {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		value = `{"` + names[i] + `":` + value + `}`
	}
	return []byte(value)
}

// leaves lists the fields of a tree by path.
func leaves(t config.Tree) map[string]any {
	found := map[string]any{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() != reflect.Struct {
			found[path] = v.Interface()
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			walk(strings.TrimPrefix(path+"."+name, "."), v.Field(i))
		}
	}
	walk("", reflect.ValueOf(t))
	return found
}

func TestEveryKeyIsTested(t *testing.T) {
	t.Parallel()
	fields := leaves(config.Default())
	if len(fields) != len(keyTests) {
		t.Errorf("%d fields, %d tests", len(fields), len(keyTests))
	}
	for path := range fields {
		if _, ok := keyTests[path]; !ok {
			t.Errorf("%s is not tested", path)
		}
	}
}

// A key sets the field of its name and no other.
func TestKeysAccept(t *testing.T) {
	t.Parallel()
	before := leaves(config.Default())
	for path, tc := range keyTests {
		for _, value := range tc.accepted {
			tree, err := config.Parse(document(path, value))
			if err != nil {
				t.Errorf("%s: %s refused: %v", path, value, err)
				continue
			}
			for field, after := range leaves(tree) {
				if changed := after != before[field]; changed != (field == path) {
					t.Errorf("%s: %s: field %s = %v, was %v", path, value, field, after, before[field])
				}
			}
			if err := tree.Validate(); err != nil {
				t.Errorf("%s: %s accepted by Parse, refused by Validate: %v", path, value, err)
			}
		}
		if tc.byDefault == "" {
			continue
		}
		if tree, err := config.Parse(document(path, tc.byDefault)); err != nil || tree != config.Default() {
			t.Errorf("%s: %s is not the default: %v", path, tc.byDefault, err)
		}
	}
}

func TestKeysRefuse(t *testing.T) {
	t.Parallel()
	for path, tc := range keyTests {
		for _, value := range tc.refused {
			tree, err := config.Parse(document(path, value))
			if !fault.IsInvalid(err) || tree != (config.Tree{}) {
				t.Errorf("%s: %s: got %v, want a *fault.Invalid and no tree", path, value, err)
				continue
			}
			if got := problems(err); len(got) != 1 || !strings.HasPrefix(got[0], "satchel: "+path+" ") {
				t.Errorf("%s: %s: problems %q, want one that names the key", path, value, got)
			}
		}
	}
}

// problems lists the texts of a joined error.
func problems(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var texts []string
	for _, problem := range joined.Unwrap() {
		texts = append(texts, problem.Error())
	}
	return texts
}

// What a file can say wrong, a program can too, types aside.
func TestValidateChecksEveryField(t *testing.T) {
	t.Parallel()
	err := config.Tree{}.Validate()
	for path, tc := range keyTests {
		zeroIsFine := strings.HasPrefix(tc.bounds, "0 ") || tc.byDefault == ""
		if named := strings.Contains(err.Error(), "satchel: "+path+" "); named == zeroIsFine {
			t.Errorf("%s: named = %v in %v", path, named, err)
		}
	}
	if err := config.Default().Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	tree := config.Default()
	tree.DB.Schemas.InboxOutbox = "a.b"
	tree.InboxOutbox.Relay.BackoffMaxDelayMs = 999
	tree.InboxOutbox.Cleanup.InboxRetentionDays = config.Forever - 1
	if got := problems(tree.Validate()); len(got) != 3 {
		t.Errorf("problems = %q, want three", got)
	}
}

// The package documentation is the reference: it lists each key with its default and bounds.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range bytes.Lines(doc) {
		words := strings.Fields(string(line))
		if len(words) > 2 && strings.Contains(words[1], ".") {
			lines[words[1]] = strings.Join(words[2:], " ")
		}
	}
	for path, tc := range keyTests {
		byDefault := strings.Trim(tc.byDefault, `"`)
		if byDefault == "" {
			byDefault = "none"
		}
		if line := lines[path]; !strings.HasPrefix(line, byDefault) || !strings.HasSuffix(line, tc.bounds) {
			t.Errorf("%s: %q does not say %q and %q", path, line, byDefault, tc.bounds)
		}
	}
}

// A tree that is written as JSON is read as the same tree.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for path, tc := range keyTests {
		for _, value := range tc.accepted {
			var first, second config.Tree
			if err := json.Unmarshal(document(path, value), &first); err != nil {
				t.Fatal(err)
			}
			doc, err := json.Marshal(first)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(doc, &second); err != nil || first != second {
				t.Errorf("%s: %s: came back as %s, %v", path, value, doc, err)
			}
		}
	}
}
