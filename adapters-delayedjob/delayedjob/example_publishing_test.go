package delayedjob_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/adapters-delayedjob/delayedjob"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outbox"
)

// A contract refuses at its declaration what no job could be run with.
func ExampleNewJob() {
	_, err := delayedjob.NewJob[Invoice]("invoice.send", delayedjob.Defaults{Queue: "{mail}", MaxAttempts: -1})
	fmt.Println(err)
	job, err := delayedjob.NewJob[Invoice]("invoice.send", delayedjob.Defaults{})
	fmt.Printf("%s %+v %v\n", job.ID(), job.Defaults(), err)
	// Output:
	// satchel: job queue has a brace
	// satchel: job max attempts is below 1 or above 2147483647
	// invoice.send {Queue:default Priority:0 MaxAttempts:3} <nil>
}

// How a job is run is decided when it is written, and stored with its entry.
func ExamplePublish() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	jobs, err := delayedjob.NewPublisher(memstore.NewPublisher(store, outbox.Config{}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tx := store.Begin()
	id, err := delayedjob.Publish(ctx, jobs, tx, sendInvoice, Invoice{Order: 7})
	fmt.Println(id, err, tx.Commit())

	metadata, _ := outbox.DecodeMetadata(store.Rows()[0].Metadata)
	fmt.Println(delayedjob.SnapshotOf(metadata))
	// Output:
	// 1 <nil> <nil>
	// {mail 0 5} <nil>
}

// A reminder in three days: the entry is stored now, and reaches Redis when it is due.
func ExampleScheduledAt() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	jobs, err := delayedjob.NewPublisher(memstore.NewPublisher(store, outbox.Config{}), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	tx := store.Begin()
	_, err = delayedjob.Publish(ctx, jobs, tx, sendInvoice, Invoice{Order: 7}, delayedjob.ScheduledAt(time.Now().Add(72*time.Hour)))
	fmt.Println(err, tx.Commit())
	fmt.Println("due in hours:", time.Until(store.Rows()[0].ScheduledAt).Round(time.Hour).Hours())
	// Output:
	// <nil> <nil>
	// due in hours: 72
}

// Configuration can move a job to another queue without a change of its contract. Entries
// that are written already stay as they are.
func ExampleNewPublisher() {
	ctx := context.Background()
	store := memstore.New(memstore.Config{})
	urgent := 100
	jobs, err := delayedjob.NewPublisher(memstore.NewPublisher(store, outbox.Config{}), delayedjob.Overrides{
		"invoice.send": {Queue: "billing", Priority: &urgent},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tx := store.Begin()
	_, err = delayedjob.Publish(ctx, jobs, tx, sendInvoice, Invoice{Order: 7})
	fmt.Println(err, tx.Commit())

	metadata, _ := outbox.DecodeMetadata(store.Rows()[0].Metadata)
	snapshot, err := delayedjob.SnapshotOf(metadata)
	fmt.Println(snapshot.Queue, snapshot.Priority, snapshot.MaxAttempts, err)
	// Output:
	// <nil> <nil>
	// billing 100 5 <nil>
}
