package storetest

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/relay"
)

var registryChecks = []check{
	{"relays come and go", registry, relaysComeAndGo},
	{"a stale relay is removed", registry, staleRelay},
	{"a commit gives a hint", waker, commitHints},
	{"a cancelled subscription is quiet", waker, hintsEnd},
}

func (e *env) advertise(s relay.Session, ad relay.Advertisement) int {
	e.Helper()
	ad.Scopes = map[destination.Type]json.RawMessage{alpha: json.RawMessage(`"*"`), beta: json.RawMessage(`["x","y"]`)}
	alive, err := s.(relay.Registrar).Advertise(e.ctx, ad)
	e.must(err, "advertise")
	return alive
}

func (e *env) registered(want ...string) {
	e.Helper()
	got, err := e.Relays(e.ctx)
	e.must(err, "read registry")
	slices.Sort(got)
	e.equal("registered", got, want)
}

func relaysComeAndGo(e *env) {
	one, two := e.session("one"), e.session("two")
	ad := relay.Advertisement{Stale: time.Hour}
	e.equal("alive", e.advertise(one, ad), 1)
	e.equal("alive", e.advertise(two, ad), 2)
	ad.Asleep = true
	e.equal("alive", e.advertise(one, ad), 2)
	e.registered("one", "two")
	for range 2 { // the second time there is nothing to remove
		e.must(one.(relay.Registrar).Retire(e.ctx), "retire")
		e.registered("two")
	}
	e.equal("alive", e.advertise(two, ad), 1)
}

func staleRelay(e *env) {
	one, two := e.session("one"), e.session("two")
	e.advertise(one, relay.Advertisement{Stale: time.Hour})
	time.Sleep(60 * time.Millisecond)
	e.equal("alive", e.advertise(two, relay.Advertisement{Stale: 30 * time.Millisecond}), 1)
	e.registered("two")
	e.equal("alive after the return", e.advertise(one, relay.Advertisement{Stale: time.Hour}), 2)
}

// asleep registers a sleeping relay where the store has a registry, since a store may
// hint only while somebody sleeps.
func (e *env) asleep() {
	if e.Relays != nil {
		e.advertise(e.session("sleeper"), relay.Advertisement{Asleep: true, Stale: time.Hour})
	}
}

func commitHints(e *env) {
	hints, cancel := e.Waker.Subscribe()
	defer cancel()
	other, cancelOther := e.Waker.Subscribe()
	defer cancelOther()
	e.asleep()
	for range 3 {
		e.publish(entries(10, "")...)
		for _, ch := range []<-chan struct{}{hints, other} {
			select {
			case <-ch:
			case <-time.After(patience):
				e.Fatal("no hint came after a commit")
			}
		}
	}
}

func hintsEnd(e *env) {
	e.asleep()
	hints, cancel := e.Waker.Subscribe()
	cancel()
	cancel() // twice is harmless
	for len(hints) > 0 {
		<-hints
	}
	witness, cancelWitness := e.Waker.Subscribe()
	defer cancelWitness()
	e.publish(entry(""))
	select {
	case <-witness:
	case <-time.After(patience):
		e.Fatal("no hint came after a commit")
	}
	e.equal("hints after the cancellation", len(hints), 0)
}
