package maintenance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/maintenance"
)

func TestConfigBounds(t *testing.T) {
	t.Parallel()
	type config = maintenance.Config
	for name, tc := range map[string]struct {
		config config
		field  string // refused; empty means accepted
	}{
		"zero":                      {config{}, ""},
		"published, shortest":       {config{PublishedRetention: time.Minute}, ""},
		"published, shorter":        {config{PublishedRetention: time.Minute - 1}, "maintenance publishedRetention"},
		"dead letters, shorter":     {config{DeadLetterRetention: 30}, "maintenance deadLetterRetention"},
		"inbox, shorter":            {config{InboxRetention: time.Second}, "maintenance inboxRetention"},
		"published, longest":        {config{PublishedRetention: maintenance.MaxRetention}, ""},
		"published, longer":         {config{PublishedRetention: maintenance.MaxRetention + 1}, "maintenance publishedRetention"},
		"published, forever":        {config{PublishedRetention: maintenance.Forever}, ""},
		"published, almost forever": {config{PublishedRetention: maintenance.Forever - 1}, "maintenance publishedRetention"},
		"published, negative":       {config{PublishedRetention: -1}, "maintenance publishedRetention"},
		"dead letters, negative":    {config{DeadLetterRetention: -time.Hour}, "maintenance deadLetterRetention"},
		"dead letters, forever":     {config{DeadLetterRetention: maintenance.Forever}, ""},
		"inbox, negative":           {config{InboxRetention: -time.Hour}, "maintenance inboxRetention"},
		"inbox, forever":            {config{InboxRetention: maintenance.Forever}, ""},
		"batch, smallest":           {config{BatchSize: 1}, ""},
		"batch, negative":           {config{BatchSize: -1}, "maintenance batchSize"},
		"batch, largest":            {config{BatchSize: 10_000}, ""},
		"batch, larger":             {config{BatchSize: 10_001}, "maintenance batchSize"},
		"claims, smallest":          {config{MaxClaims: 1}, ""},
		"claims, negative":          {config{MaxClaims: -1}, "maintenance maxClaims"},
		"claims, largest":           {config{MaxClaims: 1000}, ""},
		"claims, larger":            {config{MaxClaims: 1001}, "maintenance maxClaims"},
		"budget, shortest":          {config{TimeBudget: 1}, ""},
		"budget, negative":          {config{TimeBudget: -1}, "maintenance timeBudget"},
		"budget, longest":           {config{TimeBudget: 24 * time.Hour}, ""},
		"budget, longer":            {config{TimeBudget: 24*time.Hour + 1}, "maintenance timeBudget"},
	} {
		err := tc.config.Validate()
		switch {
		case tc.field == "" && err != nil:
			t.Errorf("%s: refused: %v", name, err)
		case tc.field != "" && !fault.IsInvalid(err):
			t.Errorf("%s: error = %v, want a *fault.Invalid", name, err)
		case tc.field != "" && !strings.Contains(err.Error(), tc.field+" is "):
			t.Errorf("%s: error %q does not name %s", name, err, tc.field)
		}
	}
}

func TestConfigReportsEveryProblem(t *testing.T) {
	t.Parallel()
	err := maintenance.Config{
		PublishedRetention: -1, DeadLetterRetention: -1, InboxRetention: -1, BatchSize: -1, MaxClaims: -1, TimeBudget: -1,
	}.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 6 {
		t.Fatalf("error = %v, want six problems", err)
	}
	for _, problem := range joined.Unwrap() {
		if !fault.IsInvalid(problem) {
			t.Errorf("%v is not a *fault.Invalid", problem)
		}
	}
}
