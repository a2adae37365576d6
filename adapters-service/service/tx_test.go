package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"

	"github.com/satchel-go/satchel/adapters-service/service"
)

// executor is what a handler wants of its transaction; *call has it.
type executor interface{ note(string) }

func (c *call) note(string) {}

func TestTxHandlerWorksInTheGivenTransaction(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	tx := &call{}
	var concrete *call
	var abstract executor
	must(t, service.HandleTx(reg, service.MustOperation[order]("concrete"), func(ctx context.Context, tx *call, o order) error {
		concrete = tx
		if m, ok := service.MessageFrom(ctx); !ok || m.Operation != "concrete" || o.ID != "7" {
			return errBusy
		}
		return nil
	}, service.HandlerOptions{Timeout: time.Minute}))
	must(t, service.HandleTx(reg, service.MustOperation[order]("abstract"), func(_ context.Context, tx executor, _ order) error {
		abstract = tx
		return delivery.Permanent(errBusy)
	}, service.HandlerOptions{}))
	must(t, service.Handle(reg, service.MustOperation[order]("plain"), ignore, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})

	for target, want := range map[string]bool{"concrete": true, "abstract": true, "plain": false, "unknown": false} {
		if got := h.InTx(envelope(target, `{}`)); got != want {
			t.Errorf("%s in the transaction: %v, want %v", target, got, want)
		}
	}
	must(t, h.DeliverTx(t.Context(), tx, envelope("concrete", `{"id":"7"}`)))
	if err := h.DeliverTx(t.Context(), tx, envelope("abstract", `{}`)); delivery.VerdictOf(err) != delivery.VerdictPermanent {
		t.Errorf("the function's verdict was lost: %v", err)
	}
	if concrete != tx || abstract != executor(tx) {
		t.Error("the functions did not get the relay's transaction")
	}
}

func TestTxTypeMismatchNamesBothTypes(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	ran := false
	must(t, service.HandleTx(reg, service.MustOperation[order]("a"), func(context.Context, *call, order) error { ran = true; return nil }, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})
	for have, tx := range map[string]any{"*strings.Builder": &strings.Builder{}, "<nil>": nil} {
		err := h.DeliverTx(t.Context(), tx, envelope("a", `{}`))
		var wiring *service.TxTypeError
		if !errors.As(err, &wiring) || wiring.Want != "*service_test.call" || wiring.Have != have {
			t.Errorf("got %v, want both types named", err)
		}
		if delivery.VerdictOf(err) != delivery.VerdictUnresolvable || ran {
			t.Errorf("verdict %s, called: %v", delivery.VerdictOf(err), ran)
		}
	}
}

func TestTxOutcomesThatNeedNoFunction(t *testing.T) {
	t.Parallel()
	reg := service.NewRegistry()
	must(t, service.HandleTx(reg, service.MustOperation[order]("tx"), func(context.Context, *call, order) error { return nil }, service.HandlerOptions{}))
	must(t, service.Handle(reg, service.MustOperation[order]("plain"), ignore, service.HandlerOptions{}))
	h := handlerOf(t, reg, service.Config{})

	if err := h.Deliver(t.Context(), envelope("tx", `{}`)); !errors.Is(err, service.ErrNeedsTransaction) || delivery.VerdictOf(err) != delivery.VerdictUnresolvable {
		t.Errorf("without a transaction: %v", err)
	}
	for _, target := range []string{"plain", "unknown"} {
		err := h.DeliverTx(t.Context(), &call{}, envelope(target, `{}`))
		if !errors.Is(err, service.ErrUnknownTarget) || delivery.VerdictOf(err) != delivery.VerdictUnresolvable {
			t.Errorf("%s: %v", target, err)
		}
	}
	var decoding *service.DecodeError
	if err := h.DeliverTx(t.Context(), &call{}, envelope("tx", `[]`)); !errors.As(err, &decoding) {
		t.Errorf("undecodable: %v", err)
	}
	reg.Pause("tx")
	if h.InTx(envelope("tx", `{}`)) {
		t.Error("a paused operation asks for the transaction")
	}
	if err := h.DeliverTx(t.Context(), &call{}, envelope("tx", `{}`)); !errors.Is(err, service.ErrPaused) {
		t.Errorf("paused: %v", err)
	}
}
