package service_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"
	"github.com/satchel-go/satchel/core/outbox"

	"github.com/satchel-go/satchel/adapters-service/service"
)

func TestOperationIDBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, id string
		ok       bool
	}{
		{"empty", "", false},
		{"blank", " \t", false},
		{"one character", "a", true},
		{"255 characters of two bytes", strings.Repeat("é", 255), true},
		{"256 characters", strings.Repeat("a", 256), false},
		{"NUL", "a\x00b", false},
		{"line break", "a\nb", false},
		{"invalid UTF-8", "a\xffb", false},
		{"inner space", "billing charge", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			op, err := service.NewOperation[order](c.id)
			if c.ok && (err != nil || op.ID() != c.id || op.String() != c.id) {
				t.Fatalf("refused: %v", err)
			}
			if !c.ok && !fault.IsInvalid(err) {
				t.Fatalf("want a *fault.Invalid, got %v", err)
			}
		})
	}
}

func TestOperationPayloadTypes(t *testing.T) {
	t.Parallel()
	refused := func(name string, err error) {
		if !fault.IsInvalid(err) || !strings.Contains(err.Error(), "payload type") {
			t.Errorf("%s: want a *fault.Invalid about the payload type, got %v", name, err)
		}
	}
	_, err := service.NewOperation[[]byte]("x")
	refused("bytes", err)
	_, err = service.NewOperation[*outbox.Raw]("x")
	refused("pointer to raw", err)
	_, err = service.NewOperation[io.Reader]("x")
	refused("interface", err)
	_, err = service.NewOperation[func()]("x")
	refused("function", err)
	_, err = service.NewOperation[chan int]("x")
	refused("channel", err)
	for name, build := range map[string]func() error{
		"raw":     func() error { _, err := service.NewOperation[outbox.Raw]("x"); return err },
		"any":     func() error { _, err := service.NewOperation[any]("x"); return err },
		"message": func() error { _, err := service.NewOperation[json.RawMessage]("x"); return err },
		"pointer": func() error { _, err := service.NewOperation[*order]("x"); return err },
		"text":    func() error { _, err := service.NewOperation[string]("x"); return err },
	} {
		if err := build(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOperationReportsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := service.NewOperation[[]byte]("")
	if err == nil || !strings.Contains(err.Error(), "operation id") || !strings.Contains(err.Error(), "payload type") {
		t.Fatalf("want both problems, got %v", err)
	}
}

func TestMustOperationPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if err, ok := recover().(error); !ok || !fault.IsInvalid(err) {
			t.Fatalf("want a panic with a *fault.Invalid, got %v", err)
		}
	}()
	service.MustOperation[order]("")
}

func TestEntryOfOperation(t *testing.T) {
	t.Parallel()
	plain := service.MustOperation[order]("orders.place")
	e := plain.Entry(order{ID: "7"})
	if e.DestinationType != destination.Service || e.Destination != "orders.place" || e.EventType != "orders.place" {
		t.Fatalf("unexpected entry %+v", e)
	}
	if e.AggregateID != "" || e.AggregateType != "" {
		t.Fatalf("an operation without an aggregate orders nothing: %+v", e)
	}

	keyed := service.MustOperation("orders.place",
		service.WithAggregate("Order", func(o order) string { return o.ID }),
		service.WithEventType[order]("order.placed"))
	e = keyed.Entry(order{ID: "order-7"})
	if e.AggregateType != "Order" || e.AggregateID != "order-7" || e.EventType != "order.placed" {
		t.Fatalf("unexpected entry %+v", e)
	}
	if e = keyed.Entry(order{}); e.AggregateID != "" || e.AggregateType != "" {
		t.Fatalf("an empty aggregate id means no order: %+v", e)
	}
}

func TestAliasLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	op := service.MustOperation[order]("new")
	first, second := service.Alias(op, "old-1"), service.Alias(op, "old-2")
	reg := service.NewRegistry()
	must(t, service.Handle(reg, first, ignore, service.HandlerOptions{}))
	if got := strings.Join(reg.Targets(), " "); got != "new old-1" {
		t.Fatalf("targets %q", got)
	}
	if d := second.Entry(order{}).Destination; d != "new" {
		t.Fatalf("a renamed operation sends to %q, want its new id", d)
	}
	third := service.Alias(first, "old-0")
	reg = service.NewRegistry()
	must(t, service.Handle(reg, third, func(context.Context, order) error { return nil }, service.HandlerOptions{}))
	if got := strings.Join(reg.Targets(), " "); got != "new old-0 old-1" {
		t.Fatalf("targets %q, want aliases to add up", got)
	}
}
