package outbox_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"
)

func TestNewMessageID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`\A[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z`)
	seen := map[outbox.MessageID]bool{}
	for range 10_000 {
		id := outbox.NewMessageID()
		if seen[id] {
			t.Fatalf("%s was made twice", id)
		}
		seen[id] = true
		if !form.MatchString(id.String()) {
			t.Fatalf("%s is no UUID of version 7", id)
		}
	}
}

func TestMessageIDsSortByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		last := outbox.NewMessageID().String()
		for _, step := range []time.Duration{time.Millisecond, time.Second, 255 * time.Millisecond, 70_000 * time.Millisecond, 300 * 24 * time.Hour} {
			time.Sleep(step)
			next := outbox.NewMessageID().String()
			if next <= last {
				t.Errorf("after %v: %s does not sort after %s", step, next, last)
			}
			last = next
		}
	})
}

func TestParseMessageID(t *testing.T) {
	t.Parallel()
	const good = "0190f5fe-7c00-7a3b-8c4d-0123456789ab"
	for _, c := range []struct {
		in string
		ok bool
	}{
		{good, true},
		{strings.ToUpper(good), true},
		{"00000000-0000-0000-0000-000000000000", true},
		{"ffffffff-ffff-ffff-ffff-ffffffffffff", true},
		{"", false},
		{good[1:], false},
		{good + "0", false},
		{strings.ReplaceAll(good, "-", ""), false},
		{"{" + good[:34] + "}", false},
		{"0190f5fe-7c00-7a3b-8c4d0-123456789ab", false},
		{"g190f5fe-7c00-7a3b-8c4d-0123456789ab", false},
		{"0190f5fe-7c00-7a3b-8c4d-0123456789a ", false},
		{"0190f5fe-7c00-7a3b-8c4d-0123456789\u00e9", false},
		{"0190f5fe+7c00-7a3b-8c4d-0123456789ab", false},
	} {
		id, err := outbox.ParseMessageID(c.in)
		if !c.ok {
			if !fault.IsInvalid(err) || id != (outbox.MessageID{}) || c.in != "" && strings.Contains(err.Error(), c.in) {
				t.Errorf("%q: %s, %v", c.in, id, err)
			}
			continue
		}
		if err != nil || id.String() != strings.ToLower(c.in) {
			t.Errorf("%q: %s, %v", c.in, id, err)
		}
	}
}

func TestMessageIDAsText(t *testing.T) {
	t.Parallel()
	type doc struct{ ID outbox.MessageID }
	in := doc{outbox.NewMessageID()}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `{"ID":"`+in.ID.String()+`"}` {
		t.Fatalf("%s, %v", text, err)
	}
	var out doc
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Errorf("%v, %v", out, err)
	}
	before := out
	if err := json.Unmarshal([]byte(`{"ID":"x"}`), &out); err == nil || out != before {
		t.Errorf("a bad text gave %v, %v", out, err)
	}
}

// FuzzParseMessageID: what is accepted is written as it was read, and nothing else.
func FuzzParseMessageID(f *testing.F) {
	f.Add("0190f5fe-7c00-7a3b-8c4d-0123456789ab")
	f.Add("0190F5FE-7C00-7A3B-8C4D-0123456789AB")
	f.Add("----")
	form := regexp.MustCompile(`\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		id, err := outbox.ParseMessageID(s)
		if (err == nil) != form.MatchString(s) {
			t.Fatalf("%q: %v", s, err)
		}
		if err == nil && id.String() != strings.ToLower(s) {
			t.Errorf("%q was read as %s", s, id)
		}
	})
}
