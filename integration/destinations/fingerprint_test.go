package destinations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// Entries remember the cluster that they were meant for. Those of another one wait, for all to see, and hold nobody up.
func TestEntryForAnotherClusterWaits(t *testing.T) {
	t.Parallel()
	brokers := kafkas.shared(t).Brokers
	topic := newTopic(t, brokers, 4)
	pool := lab.New(t).Pool(t)
	handler := kafkaHandler(t, brokers)
	ctx := lab.Context(t)
	cluster := handler.Fingerprint(ctx, topic)
	if cluster == "" {
		t.Fatal("the cluster does not say what it is called")
	}
	ours := newPublisher(t, outbox.Config{Fingerprint: func(_ destination.Type, name string) string { return handler.Fingerprint(ctx, name) }})
	const elsewhere = "the-cluster-of-yesterday"
	theirs := newPublisher(t, outbox.Config{Fingerprint: func(destination.Type, string) string { return elsewhere }})
	const each = 5
	for n := range each {
		publish(ctx, t, pool, theirs, kafkaEntry(topic, fmt.Sprint("lost-", n), n))
		publish(ctx, t, pool, ours, kafkaEntry(topic, "found", n))
		publish(ctx, t, pool, newPublisher(t, outbox.Config{}), kafkaEntry(topic, "anywhere", n))
	}
	publish(ctx, t, pool, ours, kafkaEntry(topic, "lost-0", each)) // must not overtake
	if n := lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE metadata->'delivery'->>'fingerprint' = $1`, cluster); n != each+1 {
		t.Errorf("%d entries hold the fingerprint of the cluster, want %d", n, each+1)
	}

	seen := newObserver()
	cfg := lab.Fast()
	cfg.Observers = append(cfg.Observers, seen)
	lab.Relay(t, lab.Store(t, pool), cfg, handler)
	lab.Eventually(t, "the others are delivered, and these were tried", func() bool {
		return seen.count(topic) == 2*each && lab.Value[int](t, pool, `SELECT count(*) FROM outbox WHERE last_error IS NOT NULL`) == each
	})
	untouched(t, pool)
	if changes := seen.breaker(topic); len(changes) > 0 {
		t.Errorf("entries for another cluster opened the breaker of the topic: %v", changes)
	}
	why := lab.Value[string](t, pool, `SELECT min(last_error) FROM outbox WHERE last_error IS NOT NULL`)
	if !strings.Contains(why, "fingerprint") || strings.Contains(why, elsewhere) || strings.Contains(why, cluster) {
		t.Errorf("the entries say %q: want what is wrong, and no value", why)
	}
	for _, m := range readTopic(t, brokers, topic) {
		if strings.HasPrefix(string(m.Key), "lost") {
			t.Errorf("entry of aggregate %s went to a cluster that it was not meant for", m.Key)
		}
	}

	// Somebody decides that they belong here after all.
	if _, err := pool.Exec(ctx, `UPDATE outbox SET metadata = jsonb_set(metadata, '{delivery,fingerprint}', to_jsonb($1::text))`, cluster); err != nil {
		t.Fatal(err)
	}
	drained(t, pool)
	untouched(t, pool)
	if repeats := checkTopic(t, pool, topic, readTopic(t, brokers, topic)); repeats != 0 {
		t.Errorf("%d records are repeats", repeats)
	}
}
