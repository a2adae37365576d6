package service_test

import (
	"context"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/adapters-service/service"
)

func TestSendStoresOneEntry(t *testing.T) {
	t.Parallel()
	op := service.MustOperation("orders.place", service.WithAggregate("Order", func(o order) string { return o.ID }))
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	tx := &call{}
	id, err := service.Send(t.Context(), newPublisher(), tx, op, order{ID: "order-7", Total: 12},
		service.ScheduledAt(at), service.WithHeaders(map[string]string{"region": "eu"}), service.WithMaxAttempts(4))
	must(t, err)
	if id != 100 || len(tx.statements) != 1 || len(tx.statements[0]) != 1 {
		t.Fatalf("id %d, statements %v", id, tx.statements)
	}
	r := tx.statements[0][0]
	if string(r.Payload) != `{"id":"order-7","total":12}` || r.ContentType != "" || r.AggregateID != "order-7" {
		t.Fatalf("unexpected record %+v", r)
	}
	if !r.ScheduledAt.Equal(at) || r.MaxAttempts != 4 || string(r.Headers) != `{"region":"eu"}` {
		t.Fatalf("options were not applied: %+v", r)
	}
}

func TestSendAllIsOneStatementInOrder(t *testing.T) {
	t.Parallel()
	op := service.MustOperation[int]("numbers.add")
	tx := &call{}
	ids, err := service.SendAll(t.Context(), newPublisher(), tx, op, []int{3, 1, 2}, service.WithMaxAttempts(9))
	must(t, err)
	if len(ids) != 3 || len(tx.statements) != 1 {
		t.Fatalf("%d ids from %d statements, want 3 from 1", len(ids), len(tx.statements))
	}
	for i, want := range []string{"3", "1", "2"} {
		if r := tx.statements[0][i]; string(r.Payload) != want || r.MaxAttempts != 9 {
			t.Errorf("record %d: payload %s, attempts %d", i, r.Payload, r.MaxAttempts)
		}
	}
	if ids, err = service.SendAll(t.Context(), newPublisher(), &call{}, op, nil); err != nil || len(ids) != 0 {
		t.Fatalf("nothing to send: ids %v, error %v", ids, err)
	}
}

func TestSendRefusesBeforeTheStatement(t *testing.T) {
	t.Parallel()
	tx := &call{}
	if _, err := service.Send(t.Context(), newPublisher(), tx, service.Operation[int]{}, 1); !fault.IsInvalid(err) {
		t.Errorf("zero operation: want a *fault.Invalid, got %v", err)
	}
	op := service.MustOperation[*order]("orders.place")
	if _, err := service.Send(t.Context(), newPublisher(), tx, op, nil); !fault.IsInvalid(err) {
		t.Errorf("nil payload: want a *fault.Invalid, got %v", err)
	}
	if len(tx.statements) != 0 {
		t.Errorf("%d statements were sent", len(tx.statements))
	}
}

func TestRawTravelsByteForByte(t *testing.T) {
	t.Parallel()
	op := service.MustOperation[outbox.Raw]("files.store")
	sent := outbox.Raw{ContentType: "application/x-protobuf", Data: []byte("\x00\xff{ \n")}
	tx := &call{}
	_, err := service.Send(t.Context(), newPublisher(), tx, op, sent)
	must(t, err)

	var got outbox.Raw
	reg := service.NewRegistry()
	must(t, service.Handle(reg, op, func(_ context.Context, p outbox.Raw) error { got = p; return nil }, service.HandlerOptions{}))
	e := delivered(t, tx.statements[0][0])
	must(t, handlerOf(t, reg, service.Config{}).Deliver(t.Context(), e))
	if got.ContentType != sent.ContentType || string(got.Data) != string(sent.Data) {
		t.Fatalf("got %+v, want %+v", got, sent)
	}
	if e.Payload[0] = 'x'; got.Data[0] != 0 {
		t.Fatal("the handler's bytes are the relay's: they change after it returned")
	}
}
