package storetest

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"
)

// testDeadline bounds one test. It is generous: nothing in the suite takes so long
// unless something hangs.
const testDeadline = 4 * time.Minute

// check is one test of the suite.
type check struct {
	name  string
	needs need
	run   func(*env)
}

// need is an optional ability that a check cannot do without.
type need int

const (
	nothing need = iota
	runs
	archive
	txDelivery
	registry
	waker
)

func (f Features) lacks(n need) string {
	switch {
	case n == runs && !f.Runs:
		return "Runs"
	case n == archive && !f.Archive:
		return "Archive"
	case n == txDelivery && !f.TxDelivery:
		return "TxDelivery"
	case n == registry && !f.Registry:
		return "Registry"
	case n == waker && !f.Waker:
		return "Waker"
	}
	return ""
}

// topic is a part of the suite.
type topic struct {
	name   string
	checks []check
}

var topics = []topic{
	{"Publish", publishChecks},
	{"Fidelity", fidelityChecks},
	{"Inbox", inboxChecks},
	{"InboxRaces", inboxRaceChecks},
	{"Claim", claimChecks},
	{"Scope", scopeChecks},
	{"Order", orderChecks},
	{"Paths", pathChecks},
	{"Runs", runChecks},
	{"Settle", settleChecks},
	{"Outcomes", outcomeChecks},
	{"Fencing", fencingChecks},
	{"Renew", renewChecks},
	{"Reclaim", reclaimChecks},
	{"Heal", healChecks},
	{"Cleanup", cleanupChecks},
	{"OnPublished", onPublishedChecks},
	{"TxDelivery", txDeliveryChecks},
	{"Registry", registryChecks},
	{"Concurrency", concurrencyChecks},
}

// Run runs the suite as subtests of t, one per topic and test, all in parallel, each on
// a store of its own. A harness without New, or with an unknown topic, fails t at once.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.New == nil {
		t.Fatal("the harness lacks New")
	}
	for _, name := range h.Topics {
		if !slices.ContainsFunc(topics, func(known topic) bool { return known.name == name }) {
			t.Fatalf("the harness names the topic %q, which there is not", name)
		}
	}
	for _, topic := range topics {
		if len(h.Topics) > 0 && !slices.Contains(h.Topics, topic.name) {
			continue
		}
		t.Run(topic.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range topic.checks {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					if missing := h.Features.lacks(c.needs); missing != "" {
						t.Skipf("the store does not have the feature %s", missing)
					}
					ctx, cancel := context.WithTimeout(t.Context(), testDeadline)
					t.Cleanup(cancel)
					c.run(&env{T: t, Fixture: h.New(t), ctx: ctx})
				})
			}
		})
	}
}

// rounds is the length of a race loop: short by default, so that the suite takes
// seconds on a real database, and long when SATCHEL_STRESS is set.
func rounds(short int) int {
	if os.Getenv("SATCHEL_STRESS") != "" {
		return short * 20
	}
	return short
}
