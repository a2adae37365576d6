package customdestination_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/deliverytest"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"

	"github.com/satchel-go/satchel/examples/snippets/customdestination"
)

// gateway is a client whose gateway is in memory and drops duplicates.
type gateway struct {
	fails error

	mu   sync.Mutex
	seen map[string]bool
}

func (g *gateway) Gateways() []string { return []string{"national"} }

func (g *gateway) Send(ctx context.Context, name, id, telephone, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.fails != nil {
		return g.fails
	}
	if !slices.Contains(g.Gateways(), name) {
		return customdestination.ErrUnknownGateway
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil {
		g.seen = map[string]bool{}
	}
	if !g.seen[id] {
		g.seen[id] = true
		fmt.Println(telephone, text)
	}
	return nil
}

// The suite shows that the handler keeps what the relay relies on.
func TestConformance(t *testing.T) {
	t.Parallel()
	deliverytest.Run(t, deliverytest.Harness{
		New:   func(*testing.T) delivery.Handler { return customdestination.NewHandler(&gateway{}) },
		Known: "national",
		Valid: func(e *delivery.Envelope) { e.Payload = []byte(`{"telephone":"+49 30 1234","text":"hello"}`) },
		Undecodable: func(e *delivery.Envelope) {
			e.Payload = []byte(`{"telephone":7}`)
		},
		UndecodableVerdict: delivery.VerdictPermanent,
		Failing: func(_ *testing.T, err error) delivery.Handler {
			return customdestination.NewHandler(&gateway{fails: err})
		},
	})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]delivery.Verdict{
		customdestination.ErrUnknownGateway: delivery.VerdictUnresolvable,
		customdestination.ErrRejected:       delivery.VerdictPermanent,
		customdestination.ErrDown:           delivery.VerdictUnavailable,
	} {
		h := customdestination.NewHandler(&gateway{fails: err})
		got := h.Deliver(t.Context(), delivery.Envelope{Destination: "national", Payload: []byte(`{"telephone":"1"}`)})
		if delivery.VerdictOf(got) != want {
			t.Errorf("%v: %v", err, delivery.VerdictOf(got))
		}
	}
}

// The acknowledgement of the first delivery is lost; the telephone rings once.
func Example() {
	t := reporter{}
	store := memstore.New(memstore.Config{})
	tx := store.Begin()
	_, _ = memstore.NewPublisher(store, outbox.Config{}).Publish(t.Context(), tx, outbox.Entry{
		DestinationType: customdestination.SMS, Destination: "national", EventType: "order.shipped",
		Payload: customdestination.Text{Telephone: "+49 30 1234", Text: "your order is on its way"},
	})
	_ = tx.Commit()

	flaky := outboxtest.NewFaulty(customdestination.NewHandler(&gateway{}), outboxtest.FailAfter(context.DeadlineExceeded))
	fmt.Println("attempts:", len(outboxtest.Drain(t, store, flaky)))
	// Output:
	// +49 30 1234 your order is on its way
	// attempts: 2
}

// reporter is a testing.TB for an example, which has none.
type reporter struct{ testing.TB }

func (reporter) Helper()                           {}
func (reporter) Context() context.Context          { return context.Background() }
func (reporter) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (reporter) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
