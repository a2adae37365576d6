package inbox_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/inbox"
	"github.com/satchel-go/satchel/core/memstore"
)

// A message that arrives twice has its effect once.
func ExampleProcessor_Once() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)
	paid := 0

	for range 2 { // the broker delivers the same message twice
		tx := store.Begin()
		ran, err := processor.Once(ctx, tx, inbox.Message{ID: "payment-7", Source: "billing"}, func(context.Context) error {
			paid += 100
			return nil
		})
		if err != nil {
			_ = tx.Rollback()
			continue // do not acknowledge: it comes again
		}
		fmt.Println("ran:", ran, "committed:", tx.Commit() == nil)
	}
	fmt.Println("paid:", paid)
	// Output:
	// ran: true committed: true
	// ran: false committed: true
	// paid: 100
}

// Work that fails leaves no marker behind, once its transaction is rolled back.
func ExampleProcessor_Once_failure() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)
	message := inbox.Message{ID: "payment-7", Source: "billing"}
	errFunds := errors.New("no funds")

	tx := store.Begin()
	ran, err := processor.Once(ctx, tx, message, func(context.Context) error { return errFunds })
	fmt.Println(ran, errors.Is(err, errFunds))
	_ = tx.Rollback()

	tx = store.Begin()
	ran, err = processor.Once(ctx, tx, message, func(context.Context) error { return nil })
	fmt.Println(ran, err, tx.Commit())
	// Output:
	// true true
	// true <nil> <nil>
}

// Two consumers of one message each get it, since each has a source of its own.
func ExampleMessage() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	processor := memstore.NewProcessor(store)

	tx := store.Begin()
	for _, consumer := range []string{"billing", "shipping", "billing"} {
		ran, _ := processor.Once(ctx, tx, inbox.Message{ID: "order-42", Source: consumer}, func(context.Context) error { return nil })
		fmt.Println(consumer, ran)
	}
	_ = tx.Commit()
	// Output:
	// billing true
	// shipping true
	// billing false
}

func ExampleMessage_Validate() {
	fmt.Println(inbox.Message{ID: "payment-7"}.Validate())
	// Output: satchel: inbox source is empty
}

// Any recorder makes a processor; this one counts what it passes on.
func ExampleNewProcessor() {
	store := memstore.New(memstore.Config{})
	recorder := &counting{Recorder: store}
	processor := inbox.NewProcessor(recorder)

	tx := store.Begin()
	_, err := processor.Once(context.Background(), tx, inbox.Message{ID: "payment-7", Source: "billing"},
		func(context.Context) error { return nil })
	fmt.Println(recorder.calls, err, tx.Commit())
	// Output: 1 <nil> <nil>
}

type counting struct {
	inbox.Recorder[*memstore.Tx]
	calls int
}

func (c *counting) Record(ctx context.Context, tx *memstore.Tx, m inbox.Message) (bool, error) {
	c.calls++
	return c.Recorder.Record(ctx, tx, m)
}
