package propagation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/propagation"
	"github.com/satchel-go/satchel/core/relay"
)

// Publisher and relay are given the same set: what the one's context holds the other's
// handlers find in theirs.
func Example() {
	ctx := context.Background()
	set := propagation.NewSet(nil, propagation.Standard()...)
	store := memstore.New(memstore.Config{})
	publisher := memstore.NewPublisher(store, outbox.Config{Propagation: set})

	tx := store.Begin()
	request := propagation.With(ctx, propagation.Correlation, "request-7")
	_, err := publisher.Publish(request, tx, outbox.Entry{
		DestinationType: "PRINT", Destination: "console", EventType: "order.confirmed", Payload: 42,
	})
	fmt.Println(err, tx.Commit())

	r, err := relay.New(store, []delivery.Handler{printer{}}, relay.Config{Propagation: set})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = r.Drain(ctx)
	// Output:
	// <nil> <nil>
	// handled for request-7
}

type printer struct{}

func (printer) Type() destination.Type { return "PRINT" }
func (printer) Scope() claim.Scope     { return claim.All() }

func (printer) Deliver(ctx context.Context, _ delivery.Envelope) error {
	fmt.Println("handled for", propagation.From(ctx, propagation.Correlation))
	return nil
}

// The two halves by themselves.
func ExampleSet() {
	set := propagation.NewSet(nil, propagation.Standard()...)

	publishing := propagation.With(context.Background(), propagation.Correlation, "order-42")
	stored := set.Capture(publishing) // goes into the entry's metadata

	handling := set.Restore(context.Background(), stored)
	fmt.Println(propagation.From(handling, propagation.Correlation))
	// Output:
	// order-42
}

// A codec for context of an application's own.
func ExampleText() {
	type tenant struct{}
	codec := propagation.Text{
		Name: "tenant",
		Read: func(ctx context.Context) string { t, _ := ctx.Value(tenant{}).(string); return t },
		Write: func(ctx context.Context, text string) (context.Context, error) {
			if strings.ContainsAny(text, " \n") {
				return nil, errors.New("no tenant has such a name")
			}
			return context.WithValue(ctx, tenant{}, text), nil
		},
	}
	set := propagation.NewSet(nil, codec)
	stored := set.Capture(context.WithValue(context.Background(), tenant{}, "acme"))
	fmt.Println(string(stored["tenant"]), set.Restore(context.Background(), stored).Value(tenant{}))
	// Output: "acme" acme
}

// What cannot be carried is dropped with a warning, and nothing fails.
func ExampleNewSet() {
	plain := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	set := propagation.NewSet(slog.New(plain), propagation.Standard()...)

	ctx := set.Restore(context.Background(), map[string]json.RawMessage{
		propagation.Locale:      json.RawMessage(`"not a language"`),
		propagation.Correlation: json.RawMessage(`"request-7"`),
		"unknown":               json.RawMessage(`1`),
	})
	fmt.Printf("%q %q\n", propagation.From(ctx, propagation.Locale), propagation.From(ctx, propagation.Correlation))
	// Output:
	// level=WARN msg="propagation context dropped: malformed" namespace=locale
	// "" "request-7"
}
