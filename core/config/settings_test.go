package config_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/relay"
)

// settings is all that a tree is turned into.
type settings struct {
	Relay       relay.Config
	Maintenance maintenance.Config
	Outbox      outbox.Config
}

func settingsOf(t config.Tree) settings { return settings{t.Relay(), t.Maintenance(), t.Outbox()} }

// used are the fields that whoever assembles the parts reads from the tree itself.
var used = map[string]bool{
	"inboxOutbox.relay.instances":                true,
	"cron.jobs.outbox-cleanup.cron":              true,
	"cron.jobs.outbox-stale-lease-recovery.cron": true,
	"db.schemas.inbox-outbox":                    true,
}

// goOnly are the settings that no file can give: values of the application, and
// bounds of single calls that nobody has to tune.
var goOnly = map[string]bool{
	"Relay.Waker": true, "Relay.Owner": true, "Relay.Propagation": true, "Relay.Observers": true, "Relay.Logger": true,
	"Relay.StoreTimeout": true, "Relay.ProbeDelay": true, "Relay.ProbeMax": true,
	"Maintenance.TimeBudget": true,
	"Outbox.ReservedPrefix":  true, "Outbox.Propagation": true, "Outbox.Fingerprint": true,
}

// Every key that is read is read for a purpose, and every setting can be reached.
func TestEveryFieldReachesTheSettings(t *testing.T) {
	t.Parallel()
	before := reflect.ValueOf(settingsOf(config.Default()))
	reached := map[string]bool{}
	for path, tc := range keyTests {
		tree, err := config.Parse(document(path, tc.accepted[0]))
		if err != nil {
			t.Fatal(err)
		}
		after := reflect.ValueOf(settingsOf(tree))
		changed := 0
		for i := range after.NumField() {
			part := after.Type().Field(i).Name
			for j := range after.Field(i).NumField() {
				if !reflect.DeepEqual(after.Field(i).Field(j).Interface(), before.Field(i).Field(j).Interface()) {
					changed++
					reached[part+"."+after.Field(i).Type().Field(j).Name] = true
				}
			}
		}
		if want := 1; used[path] {
			want = 0
			if changed != want {
				t.Errorf("%s changes %d settings, want none", path, changed)
			}
		} else if changed != want {
			t.Errorf("%s changes %d settings, want one", path, changed)
		}
	}
	for i := range before.NumField() {
		part := before.Type().Field(i)
		for j := range part.Type.NumField() {
			name := part.Name + "." + part.Type.Field(j).Name
			if reached[name] == goOnly[name] {
				t.Errorf("%s: reached by a key: %v, said to be for Go only: %v", name, reached[name], goOnly[name])
			}
		}
	}
}

func TestSettingsOfTheDefault(t *testing.T) {
	t.Parallel()
	got := settingsOf(config.Default())
	want := settings{
		Relay: relay.Config{
			Strategy: relay.ListenNotify, OnPublished: relay.Keep,
			PollingInterval: time.Second, BatchSize: 50,
			LeaseTimeout: 30 * time.Second, DeliveryTimeout: 30 * time.Second, DrainTimeout: 10 * time.Second,
			BackoffBase: time.Second, BackoffMax: 5 * time.Minute, UnresolvableDelay: 30 * time.Second,
		},
		Maintenance: maintenance.Config{
			PublishedRetention: 7 * 24 * time.Hour, DeadLetterRetention: 30 * 24 * time.Hour, InboxRetention: 30 * 24 * time.Hour,
			BatchSize: 1000, MaxClaims: 5,
		},
		Outbox: outbox.Config{MaxAttempts: 20},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("settings = %+v\nwant %+v", got, want)
	}
}

// What the reader accepts, the parts accept: at every bound of every key.
func TestSettingsOfAcceptedTreesAreValid(t *testing.T) {
	t.Parallel()
	for path, tc := range keyTests {
		for _, value := range tc.accepted {
			tree, err := config.Parse(document(path, value))
			if err != nil {
				t.Fatal(err)
			}
			if err := validateSettings(tree); err != nil {
				t.Errorf("%s: %s: %v", path, value, err)
			}
		}
	}
}

func validateSettings(tree config.Tree) error {
	if err := tree.Relay().Validate(); err != nil {
		return err
	}
	return errors.Join(tree.Maintenance().Validate(), tree.Outbox().Validate())
}

func TestDays(t *testing.T) {
	t.Parallel()
	for days, want := range map[config.Days]time.Duration{
		1: 24 * time.Hour, 36_500: maintenance.MaxRetention, config.Forever: maintenance.Forever,
	} {
		if got := days.Duration(); got != want {
			t.Errorf("%d days = %v, want %v", days, got, want)
		}
	}
}

func TestDaysInJSON(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]config.Days{
		`1`: 1, `7.0`: 7, `36500`: 36_500, `"FOREVER"`: config.Forever,
		`0`: 0, `-1`: 0, `36501`: 0, `1.5`: 0, `2147483647`: 0, `"forever"`: 0, `"7"`: 0, `""`: 0, `null`: 0, `true`: 0, `[7]`: 0, `{"days":7}`: 0, `7 7`: 0,
	} {
		got := config.Days(5)
		if err := got.UnmarshalJSON([]byte(doc)); want == 0 {
			if !fault.IsInvalid(err) || got != 5 {
				t.Errorf("%s: read %d, %v", doc, got, err)
			}
			continue
		} else if err != nil || got != want {
			t.Errorf("%s: read %d, %v", doc, got, err)
		}
		// What is written is read again, also inside a document of the application.
		written, err := json.Marshal(map[string]config.Days{"keep": got})
		var back map[string]config.Days
		if err != nil || json.Unmarshal(written, &back) != nil || back["keep"] != got {
			t.Errorf("%s: written as %s and read as %v, %v", doc, written, back, err)
		}
	}
}
