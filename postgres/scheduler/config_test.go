package scheduler_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
	"github.com/satchel-go/satchel/postgres"
	"github.com/satchel-go/satchel/postgres/scheduler"
)

// TestConfigBounds: New refuses what Validate refuses, and no error repeats a value.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	const (
		cleanup  = "satchel: cron.jobs.outbox-cleanup.cron is not a schedule of six fields, seconds first"
		recovery = "satchel: cron.jobs.outbox-stale-lease-recovery.cron is not a schedule of six fields, seconds first"
		archive  = "satchel: scheduler archiveDaysAhead is not between 0 and 366"
	)
	type config = scheduler.Config
	for name, c := range map[string]struct {
		config config
		want   string // empty means accepted
	}{
		"zero":              {config{}, ""},
		"defaults":          {config{Cleanup: scheduler.DefaultCleanup, Recovery: scheduler.DefaultRecovery}, ""},
		"zone":              {config{Cleanup: "CRON_TZ=UTC 0 30 3 * * *"}, ""},
		"five fields":       {config{Cleanup: "secret 0 3 * *"}, cleanup},
		"no number":         {config{Recovery: "secret * * * * *"}, recovery},
		"unknown zone":      {config{Recovery: "CRON_TZ=secret * * * * * *"}, recovery},
		"zone only":         {config{Recovery: "CRON_TZ=UTC"}, recovery},
		"blank":             {config{Cleanup: " "}, cleanup},
		"never":             {config{Cleanup: "0 0 0 30 2 *"}, "satchel: cron.jobs.outbox-cleanup.cron never comes due"},
		"archive, most":     {config{ArchiveDaysAhead: postgres.MaxArchiveDaysAhead}, ""},
		"archive, more":     {config{ArchiveDaysAhead: postgres.MaxArchiveDaysAhead + 1}, archive},
		"archive, negative": {config{ArchiveDaysAhead: -1}, archive},
		"maintenance":       {config{Maintenance: maintenance.Config{BatchSize: -1}}, "satchel: maintenance batchSize is not between 1 and 10000"},
		"several":           {config{Cleanup: "x", Recovery: "y", ArchiveDaysAhead: -1}, archive + "\n" + cleanup + "\n" + recovery},
	} {
		refused := c.config.Validate()
		_, err := scheduler.New(store(), c.config)
		if c.want == "" {
			if refused != nil || err != nil {
				t.Errorf("%s: refused with %v, %v", name, refused, err)
			}
			continue
		}
		for _, err := range []error{refused, err} {
			if !fault.IsInvalid(err) || err.Error() != c.want || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
		}
	}
	if _, err := scheduler.New(nil, config{ArchiveDaysAhead: -1}); err == nil || err.Error() != "satchel: scheduler store is nil\n"+archive {
		t.Errorf("without a store: %v", err)
	}
}
