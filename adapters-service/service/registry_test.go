package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/fault"

	"github.com/satchel-go/satchel/adapters-service/service"
)

func chargeCard(context.Context, order) error { return nil }
func chargeBank(context.Context, order) error { return nil }

func TestDuplicatesNameBothRegistrations(t *testing.T) {
	t.Parallel()
	charge := service.MustOperation[order]("billing.charge")
	pay := service.MustOperation[order]("billing.pay")
	for _, c := range []struct {
		name          string
		first, second service.Operation[order]
		target        string
	}{
		{"same id", charge, charge, "billing.charge"},
		{"alias of an id", charge, service.Alias(pay, "billing.charge"), "billing.charge"},
		{"id of an alias", service.Alias(charge, "billing.pay"), pay, "billing.pay"},
		{"two aliases", service.Alias(charge, "old"), service.Alias(pay, "old"), "old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reg := service.NewRegistry()
			must(t, service.Handle(reg, c.first, chargeCard, service.HandlerOptions{}))
			before := reg.Targets()
			err := service.Handle(reg, c.second, chargeBank, service.HandlerOptions{})
			var duplicate *service.DuplicateError
			if !errors.As(err, &duplicate) || duplicate.Target != c.target {
				t.Fatalf("want a *DuplicateError for %s, got %v", c.target, err)
			}
			for _, want := range []string{c.first.ID(), c.second.ID(), "chargeCard", "chargeBank"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %s", err, want)
				}
			}
			if !slices.Equal(reg.Targets(), before) {
				t.Errorf("the refused registration left traces: %q", reg.Targets())
			}
			for range 2 { // a second try does not make it right
				if _, err = service.NewHandler(reg, service.Config{}); !errors.As(err, &duplicate) {
					t.Errorf("NewHandler: want the duplicate, got %v", err)
				}
			}
		})
	}
	reg := service.NewRegistry()
	err := service.Handle(reg, service.Alias(charge, "billing.charge"), chargeCard, service.HandlerOptions{})
	var duplicate *service.DuplicateError
	if !errors.As(err, &duplicate) || len(reg.Targets()) != 0 {
		t.Errorf("an alias equal to its own id: got %v", err)
	}
}

func TestNewHandlerJoinsAllProblems(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	_ = service.Handle(reg, service.MustOperation[order]("a"), nil, service.HandlerOptions{Timeout: -time.Second})
	_ = service.Handle(reg, service.Operation[order]{}, chargeCard, service.HandlerOptions{})
	_ = service.Handle(reg, service.Alias(service.MustOperation[order]("b"), " "), chargeCard, service.HandlerOptions{})
	_ = service.Handle(reg, service.MustOperation[order]("c"), chargeCard, service.HandlerOptions{Timeout: service.MaxTimeout + 1})
	must(t, service.Handle(reg, service.MustOperation[order]("d"), chargeCard, service.HandlerOptions{Timeout: service.MaxTimeout}))
	cfg := service.Config{Middleware: []service.Middleware{nil}}
	if err := cfg.Validate(); !fault.IsInvalid(err) {
		t.Errorf("Validate: %v", err)
	}
	_, err := service.NewHandler(reg, cfg)
	if !fault.IsInvalid(err) {
		t.Fatalf("want *fault.Invalid values, got %v", err)
	}
	for _, want := range []string{
		`"a": function is nil`, `"a": timeout is negative`, `"": id is blank`, `"b": alias is blank`,
		`"c": timeout is negative or longer`, "middleware 0 is nil",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
	if _, err := service.NewHandler(nil, service.Config{}); !fault.IsInvalid(err) {
		t.Errorf("nil registry: got %v", err)
	}
	if err := service.Handle(nil, service.MustOperation[order]("a"), chargeCard, service.HandlerOptions{}); !fault.IsInvalid(err) {
		t.Errorf("Handle with a nil registry: got %v", err)
	}
}

func TestRunningHandlerIsNotTouchedByALateProblem(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), chargeCard, service.HandlerOptions{}))
	handlerOf(t, reg, service.Config{})
	if err := service.Handle(reg, service.MustOperation[order]("a"), chargeBank, service.HandlerOptions{}); err == nil {
		t.Fatal("a duplicate was accepted at run time")
	}
	handlerOf(t, reg, service.Config{}) // the caller knows: a second handler can be built
}

func TestZeroRegistry(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(*service.Registry) bool{
		"Targets": func(reg *service.Registry) bool { ids := reg.Targets(); return ids != nil && len(ids) == 0 },
		"Pause":   func(reg *service.Registry) bool { return !reg.Pause("a") },
		"Resume":  func(reg *service.Registry) bool { return !reg.Resume("a") },
		"Remove":  func(reg *service.Registry) bool { return !reg.Remove("a") },
		"Deliver": func(reg *service.Registry) bool {
			err := handlerOf(t, reg, service.Config{}).Deliver(t.Context(), envelope("a", `{}`))
			return errors.Is(err, service.ErrUnknownTarget)
		},
		"Scope": func(reg *service.Registry) bool { return len(scope(t, handlerOf(t, reg, service.Config{}))) == 0 },
		"Handle": func(reg *service.Registry) bool {
			must(t, service.Handle(reg, service.MustOperation[order]("a"), chargeCard, service.HandlerOptions{}))
			return slices.Equal(reg.Targets(), []string{"a"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !use(new(service.Registry)) {
				t.Error("a zero registry does not behave like an empty one")
			}
		})
	}
}

// scope resolves what a relay would claim with h.
func scope(t *testing.T, h *service.Handler) []string {
	t.Helper()
	s, err := claim.Resolve(claim.Capabilities{h.Type(): h.Scope()})
	must(t, err)
	ts, _ := s.Type(destination.Service)
	return ts.Targets
}

func TestScopeIsLive(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	h := handlerOf(t, reg, service.Config{})
	a := service.Alias(service.MustOperation[order]("a"), "a.old")
	add := func() error { return service.Handle(reg, a, chargeCard, service.HandlerOptions{}) }
	verdict := func() delivery.Verdict { return delivery.VerdictOf(h.Deliver(t.Context(), envelope("a.old", `{}`))) }

	for _, step := range []struct {
		name    string
		change  func() bool
		want    []string
		verdict delivery.Verdict
	}{
		{"empty", func() bool { return len(reg.Targets()) == 0 }, nil, delivery.VerdictUnresolvable},
		{"added", func() bool { return add() == nil }, []string{"a", "a.old"}, delivery.VerdictDelivered},
		{"pause by alias", func() bool { return !reg.Pause("a.old") }, []string{"a", "a.old"}, delivery.VerdictDelivered},
		{"paused", func() bool { return reg.Pause("a") }, nil, delivery.VerdictUnresolvable},
		{"still there", func() bool { return add() != nil }, nil, delivery.VerdictUnresolvable},
		{"resumed", func() bool { return reg.Resume("a") }, []string{"a", "a.old"}, delivery.VerdictDelivered},
		{"paused again", func() bool { return reg.Pause("a") }, nil, delivery.VerdictUnresolvable},
		{"removed", func() bool { return reg.Remove("a") }, nil, delivery.VerdictUnresolvable},
		{"removed twice", func() bool { return !reg.Remove("a") && !reg.Pause("a") && !reg.Resume("a") }, nil, delivery.VerdictUnresolvable},
		{"added again, not paused", func() bool { return add() == nil }, []string{"a", "a.old"}, delivery.VerdictDelivered},
	} {
		if !step.change() {
			t.Fatalf("%s: the change did not report what it should", step.name)
		}
		if got := scope(t, h); !slices.Equal(got, step.want) {
			t.Fatalf("%s: claims %q, want %q", step.name, got, step.want)
		}
		if got := verdict(); got != step.verdict {
			t.Fatalf("%s: verdict %s, want %s", step.name, got, step.verdict)
		}
	}
}

func TestTargetsBelongToTheCaller(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	must(t, service.Handle(reg, service.MustOperation[order]("a"), chargeCard, service.HandlerOptions{}))
	reg.Targets()[0] = "changed"
	if got := reg.Targets(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("targets %q", got)
	}
}

func TestRegistryStopsAtTheClaimLimit(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	ids := make([]string, claim.MaxTargets-1)
	for i := range ids {
		ids[i] = fmt.Sprint("old-", i)
	}
	must(t, service.Handle(reg, service.Alias(service.MustOperation[order]("full"), ids...), chargeCard, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})
	if got := len(scope(t, h)); got != claim.MaxTargets {
		t.Fatalf("%d targets, want %d", got, claim.MaxTargets)
	}
	if err := service.Handle(reg, service.MustOperation[order]("more"), chargeCard, service.HandlerOptions{}); !fault.IsInvalid(err) {
		t.Fatalf("one more than can be claimed: got %v", err)
	}
}
