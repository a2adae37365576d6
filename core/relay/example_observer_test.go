package relay_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/memstore"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/core/relay"
)

// An observer sees what became of each attempt: this one is a metric.
func ExampleObserver() {
	store := memstore.New(memstore.Config{})
	if err := printed(store, "order.placed"); err != nil {
		fmt.Println(err)
	}
	failures := map[delivery.Verdict]int{}
	count := relay.ObserverFunc(func(_ context.Context, a relay.Attempt) {
		if a.Err != nil {
			failures[a.Verdict]++
		}
	})
	refusing := outboxtest.NewFaulty(outboxtest.NewRecorder("PRINT"), outboxtest.Fail(delivery.Permanent(errors.New("no printer"))))
	r, err := relay.New(store, []delivery.Handler{refusing}, relay.Config{Observers: []relay.Observer{count}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Drain(context.Background())
	fmt.Println(failures, store.Rows()[0].State, err)
	// Output: map[permanent:1] DEAD_LETTER <nil>
}

// alarm is told of outages as well.
type alarm struct{}

func (alarm) Attempted(_ context.Context, a relay.Attempt) {
	fmt.Println("attempt:", a.Verdict, "charged:", a.Disposition == relay.Retried)
}

func (alarm) BreakerChanged(_ context.Context, t destination.Type, name string, state relay.BreakerState) {
	fmt.Println(t, name, "is", state)
}

// A destination that is down is left alone; none of its entries loses an attempt.
func ExampleBreakerObserver() {
	store := memstore.New(memstore.Config{})
	if err := printed(store, "order.placed"); err != nil {
		fmt.Println(err)
	}
	down := outboxtest.NewFaulty(outboxtest.NewRecorder("PRINT"), outboxtest.Fail(delivery.Unavailable(errors.New("unplugged"))))
	r, err := relay.New(store, []delivery.Handler{down}, relay.Config{Observers: []relay.Observer{alarm{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.RunOnce(context.Background(), 1)
	fmt.Println(store.Rows()[0].Attempt, "attempts charged", err)
	// Output:
	// PRINT console is open
	// attempt: unavailable charged: false
	// 0 attempts charged <nil>
}
