package settings_test

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/config"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/relay"

	"github.com/satchel-go/satchel/wiring/settings"
)

// file writes a configuration file and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// flags returns a parsed set.
func flags(t *testing.T, args ...string) *flag.FlagSet {
	t.Helper()
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Bool("verbose", false, "a flag of the application")
	settings.RegisterFlags(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestLoadJoinsSources(t *testing.T) {
	t.Parallel()
	sources := settings.Sources{
		Files: []string{
			file(t, "base.yaml", "inboxOutbox:\n  relay: {batchSize: 1, concurrency: 1, prefetch: 1, runLength: 1}\n"),
			file(t, "site.json", `{"inboxOutbox": {"relay": {"concurrency": 2, "prefetch": 2, "runLength": 2}}}`),
		},
		Environ: []string{
			"SATCHEL__INBOXOUTBOX__RELAY__PREFETCH=3", "SATCHEL__INBOXOUTBOX__RELAY__RUNLENGTH=3",
			"SATCHEL__INBOXOUTBOX__CLEANUP__DEADLETTERRETENTIONDAYS=FOREVER",
			"SATCHEL__DB__SCHEMAS__INBOX_OUTBOX=messaging",
			"SATCHEL__CRON__JOBS__OUTBOX_CLEANUP__CRON=0 0 3 * * *",
			"SATCHEL_DATABASE_URL=postgres://elsewhere", "HOME=/",
		},
		Flags: flags(t, "-verbose", "-inboxOutbox.relay.runLength=4", "-inboxOutbox.relay.strategy", "POLLING"),
	}
	want := config.Default()
	want.InboxOutbox.Relay.BatchSize = 1
	want.InboxOutbox.Relay.Concurrency = 2
	want.InboxOutbox.Relay.Prefetch = 3
	want.InboxOutbox.Relay.RunLength = 4
	want.InboxOutbox.Relay.Strategy = relay.Polling
	want.InboxOutbox.Cleanup.DeadLetterRetentionDays = config.Forever
	want.DB.Schemas.InboxOutbox = "messaging"
	want.Cron.Jobs.OutboxCleanup.Cron = "0 0 3 * * *"
	if got, err := settings.Load(sources); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestLoadWithoutSources(t *testing.T) {
	t.Parallel()
	for _, s := range []settings.Sources{
		{},
		{Flags: flags(t)},
		{Files: []string{file(t, "empty.yaml", ""), file(t, "empty.json", "{}")}},
	} {
		if got, err := settings.Load(s); err != nil || got != config.Default() {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestForeignSections(t *testing.T) {
	t.Parallel()
	path := file(t, "service.yaml", "server: {port: 8080}\ninboxOutbox: {relay: {instances: 3}}\n")
	got, err := settings.Load(settings.Sources{Files: []string{path}, Foreign: []string{"server"}})
	if err != nil || got.InboxOutbox.Relay.Instances != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := settings.Load(settings.Sources{Files: []string{path}}); !fault.IsInvalid(err) {
		t.Errorf("a section that nobody knows: %v", err)
	}
	_, err = settings.Load(settings.Sources{Files: []string{path}, Foreign: []string{"server", "inboxOutbox"}})
	if !fault.IsInvalid(err) || !strings.Contains(err.Error(), "foreign section inboxOutbox is a section of satchel") {
		t.Errorf("a section of satchel declared foreign: %v", err)
	}
}

// secret is in values that must not be in any error.
const secret = "hunter2"

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		sources       settings.Sources
		source        string
		field, reason string // of the fault.Invalid
	}{
		{
			"misspelled schema in a file",
			settings.Sources{Files: []string{file(t, "a.yaml", "db: {schemas: {inbox_outbox: "+secret+"}}")}},
			"a.yaml",
			"db.schemas.inbox_outbox", "is not a known key; did you mean db.schemas.inbox-outbox?",
		},
		{
			"misspelled schema in a variable",
			settings.Sources{Environ: []string{"SATCHEL__DB__SCHEMAS__INBOXOUTBOX=" + secret}},
			"environment",
			"db.schemas.inboxoutbox", "is not a known key; did you mean db.schemas.inbox-outbox?",
		},
		{
			"misspelled variable",
			settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZ=7"}},
			"environment",
			"inboxOutbox.relay.batchsiz", "is not a known key; did you mean inboxOutbox.relay.batchSize?",
		},
		{
			"word for a number",
			settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE=" + secret}},
			"environment",
			"inboxOutbox.relay.batchSize", "is a text, not a whole number from 1 to 10000",
		},
		{
			"out of bounds",
			settings.Sources{Flags: flags(t, "-inboxOutbox.relay.instances=0")},
			"flags",
			"inboxOutbox.relay.instances", "is not a whole number from 1 to 100",
		},
		{
			"number in quotes in a file",
			settings.Sources{Files: []string{file(t, "b.json", `{"inboxOutbox":{"relay":{"batchSize":"7"}}}`)}},
			"b.json",
			"inboxOutbox.relay.batchSize", "is a text, not a whole number from 1 to 10000",
		},
		{
			"value for a section",
			settings.Sources{Environ: []string{"SATCHEL__INBOXOUTBOX=" + secret}},
			"environment",
			"inboxOutbox", "is a text, not an object",
		},
		{
			"JSON with a key twice",
			settings.Sources{Files: []string{file(t, "c.json", `{"db":{}, "cron":[{"db":1}], "db":{}}`)}},
			"c.json",
			"db", "is given more than once",
		},
		{
			"YAML with a key twice",
			settings.Sources{Files: []string{file(t, "d.yaml", "db: {}\ndb: {}\n")}},
			"d.yaml",
			"configuration file", "is malformed, or gives a key twice",
		},
		{
			"YAML with a value where none can be",
			settings.Sources{Files: []string{file(t, "e.yaml", secret+": [")}},
			"e.yaml",
			"configuration file", "is malformed, or gives a key twice",
		},
		{
			"JSON list",
			settings.Sources{Files: []string{file(t, "f.json", "[]")}},
			"f.json",
			"configuration file", "is not one JSON object",
		},
		{
			"JSON null",
			settings.Sources{Files: []string{file(t, "g.json", "null")}},
			"g.json",
			"configuration file", "is not one JSON object",
		},
		{
			"another format",
			settings.Sources{Files: []string{file(t, "h.toml", "")}},
			"h.toml",
			"configuration file", "has none of the extensions .json, .yaml and .yml",
		},
		{
			"what two sources hold, by the later one",
			settings.Sources{
				Files:   []string{file(t, "i.json", `{"inboxOutbox":{"relay":{"batchSize":7}}}`)},
				Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BATCHSIZE=0"},
			},
			"environment",
			"inboxOutbox.relay.batchSize", "is not a whole number from 1 to 10000",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree, err := settings.Load(c.sources)
			var at *settings.SourceError
			var invalid *fault.Invalid
			if !errors.As(err, &at) || !errors.As(err, &invalid) || tree != (config.Tree{}) {
				t.Fatalf("%+v, %v", tree, err)
			}
			if filepath.Base(at.Source) != c.source || invalid.Field != c.field || invalid.Reason != c.reason {
				t.Errorf("%q: %q %q", at.Source, invalid.Field, invalid.Reason)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats a value: %v", err)
			}
		})
	}
}

// Problems of every source come together, and so does what keys must meet together.
func TestLoadReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := settings.Load(settings.Sources{
		Files:   []string{file(t, "a.json", `{"inboxOutbox":{"relay":{"strategy":"PUSH"}}}`)},
		Environ: []string{"SATCHEL__INBOXOUTBOX__RELAY__BACKOFFBASEDELAYMS=2000", "SATCHEL__INBOXOUTBOX__RELAY__BACKOFFMAXDELAYMS=1000"},
		Flags:   flags(t, "-cron.jobs.outbox-cleanup.cron="),
	})
	for _, want := range []string{
		"a.json: satchel: inboxOutbox.relay.strategy is not one of LISTEN_NOTIFY, POLLING",
		"environment: satchel: inboxOutbox.relay.backoffMaxDelayMs is shorter than inboxOutbox.relay.backoffBaseDelayMs",
		"flags: satchel: cron.jobs.outbox-cleanup.cron is blank",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %q", err, want)
		}
	}
	_, err = settings.Load(settings.Sources{Files: []string{"/nonexistent/one.json", "two.toml"}})
	if !errors.Is(err, fs.ErrNotExist) || !fault.IsInvalid(err) {
		t.Errorf("of two bad files: %v", err)
	}
}

// Every key of the tree can be set by a variable and by a flag.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	want := config.Default()
	want.DB.Schemas.InboxOutbox = "messaging"
	texts := map[string]string{"db.schemas.inbox-outbox": "messaging"}
	set := flags(t)
	var args, environ []string
	set.VisitAll(func(f *flag.Flag) {
		text, given := texts[f.Name]
		if !given {
			text = f.DefValue
		}
		if f.Name != "verbose" {
			args = append(args, "-"+f.Name+"="+text)
			environ = append(environ, settings.EnvName(f.Name)+"="+text)
		}
	})
	if len(args) < 20 {
		t.Fatalf("only %d flags", len(args))
	}
	for name, s := range map[string]settings.Sources{
		"flags":     {Flags: flags(t, args...)},
		"variables": {Environ: environ},
	} {
		if got, err := settings.Load(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
