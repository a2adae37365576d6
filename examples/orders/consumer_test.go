package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/outbox"
)

func TestConsumerAppliesOnceAndSeesDisorder(t *testing.T) {
	t.Parallel()
	_, pool := testDatabase(t, 2)
	server := httptest.NewServer((&viaService{}).routes(testConsumer(t, pool)))
	defer server.Close()

	post := func(id string, seq int) int {
		t.Helper()
		body := fmt.Sprintf(`{"messageId":%q,"destination":"orders.billing","event":{"orderId":"order-1","seq":%d}}`, id, seq)
		reply, err := http.Post(server.URL+"/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = reply.Body.Close()
		return reply.StatusCode
	}
	first, second, late := outbox.NewMessageID().String(), outbox.NewMessageID().String(), outbox.NewMessageID().String()
	for _, step := range []struct {
		id                            string
		seq, status                   int
		applied, duplicates, disorder int
	}{
		{first, 1, 204, 1, 0, 0},
		{first, 1, 204, 1, 1, 0},  // again: dropped
		{second, 3, 204, 2, 1, 1}, // the second event is missing
		{late, 2, 204, 3, 1, 2},   // and comes too late
		{"", 4, 503, 3, 1, 2},     // no message id: nothing can be recorded
	} {
		if status := post(step.id, step.seq); status != step.status {
			t.Fatalf("event %d: status %d, want %d", step.seq, status, step.status)
		}
		var applied, duplicates, disorder int
		const query = `SELECT count(*), (SELECT count(*) FROM duplicates WHERE dropped_by = 'inbox'), count(*) FILTER (WHERE NOT in_order) FROM applied`
		if err := pool.QueryRow(t.Context(), query).Scan(&applied, &duplicates, &disorder); err != nil {
			t.Fatal(err)
		}
		if applied != step.applied || duplicates != step.duplicates || disorder != step.disorder {
			t.Fatalf("event %d: %d applied, %d duplicates, %d out of order; want %d, %d, %d",
				step.seq, applied, duplicates, disorder, step.applied, step.duplicates, step.disorder)
		}
	}
	reply, err := http.Post(server.URL+"/messages", "application/json", strings.NewReader("{"))
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest {
		t.Errorf("malformed: status %d", reply.StatusCode)
	}
}

func TestForwarderFailsUnlessTheConsumerCommitted(t *testing.T) {
	t.Parallel()
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	f := newForwarder(server.URL, 1)
	if err := f.forward(t.Context(), OrderEvent{}); err != nil {
		t.Errorf("committed: %v", err)
	}
	status = http.StatusServiceUnavailable
	if err := f.forward(t.Context(), OrderEvent{}); err == nil {
		t.Error("not applied, and no error")
	}
	server.Close()
	var down interface{ Timeout() bool } // a *url.Error
	if err := f.forward(t.Context(), OrderEvent{}); !errors.As(err, &down) {
		t.Errorf("consumer down: got %v", err)
	}
}
