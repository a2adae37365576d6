package main

import (
	"testing"
)

func TestShopCommitsTruthAndEntriesTogether(t *testing.T) {
	t.Parallel()
	for name := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, pool := testDatabase(t, shopWorkers)
			s := &shop{pool: pool, transport: testTransport(t, name, dsn)}
			if err := s.run(t.Context(), 20); err != nil {
				t.Fatal(err)
			}
			var orders, events, entries, same, void int
			const query = `SELECT (SELECT count(*) FROM orders WHERE state = 'shipped'), (SELECT count(*) FROM order_events),
				(SELECT count(*) FROM outbox),
				(SELECT count(*) FROM outbox o JOIN order_events e
					ON (e.order_id, e.destination, e.seq::text) = (o.payload->>'orderId', o.destination, o.payload->>'seq')),
				(SELECT count(*) FROM rolled_back)`
			if err := pool.QueryRow(t.Context(), query).Scan(&orders, &events, &entries, &same, &void); err != nil {
				t.Fatal(err)
			}
			if orders != 20 || events != 60 || entries != 60 || same != 60 || void != 2 {
				t.Errorf("%d orders, %d events, %d entries of which %d agree, %d rolled back; want 20, 60, 60, 60, 2",
					orders, events, entries, same, void)
			}
			// Every order exists now: taking them again fails at once, and says which.
			if err := s.run(t.Context(), 20); err == nil {
				t.Error("the same orders were taken twice")
			}
		})
	}
}
