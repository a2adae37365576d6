package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// sound is a tiny run in which everything went well.
const sound = `
INSERT INTO orders VALUES ('order-1', 'shipped', 100);
INSERT INTO order_events VALUES ('order-1', 1, 'orders.billing'), ('order-1', 2, 'orders.shipping');
INSERT INTO applied VALUES ('order-1', 1, 'orders.billing', true), ('order-1', 2, 'orders.shipping', true);
INSERT INTO rolled_back VALUES ('void-1');
INSERT INTO duplicates VALUES ('x', 'inbox');
INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload, state, published_at)
	VALUES (gen_random_uuid(), 'order-1', 'order.placed', 'orders.billing', 'SERVICE', '{}', 'PUBLISHED', now());`

const entry = `INSERT INTO outbox (carrier_id, aggregate_id, event_type, destination, destination_type, payload) VALUES (gen_random_uuid(), '%', 'e', 'd', 'SERVICE', '{}');`

func TestReportFindsWhateverIsOff(t *testing.T) {
	t.Parallel()
	dsn, _ := testDatabase(t, 1)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()

	for _, c := range []struct{ name, change, off string }{
		{"sound", ``, ``},
		{"lost", `DELETE FROM applied WHERE seq = 2`, "committed but never applied"},
		{"invented", `INSERT INTO applied VALUES ('order-2', 1, 'orders.billing', true)`, "applied but never committed"},
		{"elsewhere", `UPDATE applied SET destination = 'orders.mail' WHERE seq = 2`, "committed but never applied"},
		{"twice", `INSERT INTO applied VALUES ('order-1', 2, 'orders.shipping', true)`, "applied more than once"},
		{"rolled back, applied", `INSERT INTO applied VALUES ('void-1', 1, 'orders.billing', true)`, "rolled back but delivered"},
		{"rolled back, stored", strings.Replace(entry, "%", "void-1", 1), "rolled back but delivered"},
		{
			"rolled back, stored without aggregate",
			strings.NewReplacer("'%'", "NULL", "{}", `{"orderId":"void-1"}`).Replace(entry), "rolled back but delivered",
		},
		{"no duplicates", `DELETE FROM duplicates`, "duplicates suppressed"},
		{"duplicates elsewhere", `UPDATE duplicates SET dropped_by = 'redis'`, "duplicates suppressed"},
		{"out of order", `UPDATE applied SET in_order = false WHERE seq = 2`, "order violations"},
		{"dead letter", `UPDATE outbox SET dead_lettered_at = now(), published_at = NULL, state = 'DEAD_LETTER'`, "dead letters"},
		{"undelivered", strings.Replace(entry, "%", "order-1", 1), "undelivered"},
		{"nothing happened", `TRUNCATE orders, order_events, applied, rolled_back, duplicates, outbox`, "orders committed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := conn.Exec(t.Context(), `TRUNCATE orders, order_events, applied, rolled_back, duplicates, outbox;`+sound+c.change)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err = report(t.Context(), conn, kinds["service"], &out)
			if c.off == "" {
				if err != nil || strings.Contains(out.String(), "OFF") {
					t.Fatalf("got %v:\n%s", err, out.String())
				}
				return
			}
			if !errors.Is(err, errUnreconciled) {
				t.Fatalf("want errUnreconciled, got %v", err)
			}
			for text := range strings.Lines(out.String()) {
				if strings.HasPrefix(strings.TrimSpace(text), c.off) && strings.Contains(text, "OFF") {
					return
				}
			}
			t.Fatalf("the line %q is not off:\n%s", c.off, out.String())
		})
	}
}

// What a destination does not promise is shown and not judged.
func TestReportJudgesWhatTheDestinationPromises(t *testing.T) {
	t.Parallel()
	dsn, _ := testDatabase(t, 1)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), sound+`UPDATE applied SET in_order = false; UPDATE duplicates SET dropped_by = 'redis'`); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report(t.Context(), conn, kinds["jobs"], &out); err != nil {
		t.Fatalf("%v:\n%s", err, out.String())
	}
	for _, want := range []string{"2   -    not promised by this destination", "suppressed by redis               1   ok", "exactly once\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	if err := report(t.Context(), conn, kinds["kafka"], &strings.Builder{}); !errors.Is(err, errUnreconciled) {
		t.Errorf("where order is promised: got %v", err)
	}
}
