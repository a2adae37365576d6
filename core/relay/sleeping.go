package relay

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/destination"
)

// sleepState is what a relay under ListenNotify knows about being asleep. It belongs
// to the loop.
//
// A publisher's transaction is notified of only when a relay is registered as asleep,
// since a notification takes a lock that the whole database shares. A relay that
// runs dry therefore keeps looking for a short while, then registers as asleep, then
// looks again: an entry committed before the registration was visible is found by
// that look, a later one by its notification, and the rare one in between by polling.
type sleepState struct {
	asleep  bool      // as registered
	wanted  bool      // as it should be registered
	looks   int       // looks since asleep
	busy    bool      // an advertisement is under way
	at      time.Time // when to advertise next
	alive   int       // relays alive, as the registry said
	failing int
	scope   claim.Snapshot // as of the last claim
}

// advertised is the answer to an advertisement.
type advertised struct {
	asleep bool
	alive  int
	err    error
}

const (
	// dryLooks is the number of looks that find nothing before a relay goes to sleep:
	// 3.5, 7, 14, 28 and 56 ms apart.
	dryLooks = 5
	// lastLooks is the number of looks after registering as asleep.
	lastLooks = 2
	lastLook  = 50 * time.Millisecond
	// heartbeat is how often a relay shows that it is alive; after staleBeats of them
	// without, others remove it from the registry.
	heartbeat  = 5 * time.Second
	staleBeats = 4
)

// registrar returns the registry, or nil when this relay does not use one.
func (l *loop) registrar() Registrar {
	if l.cfg.Strategy != ListenNotify || !l.plan.forever() {
		return nil
	}
	r, _ := l.session.(Registrar)
	return r
}

// subscribe asks for hints.
func (l *loop) subscribe() (<-chan struct{}, func()) {
	if l.cfg.Strategy != ListenNotify || l.cfg.Waker == nil || !l.plan.forever() {
		return nil, func() {}
	}
	return l.cfg.Waker.Subscribe()
}

// onHint makes the next look happen now, or, in a burst of hints, at the usual pace.
func (l *loop) onHint() {
	st := &l.claims
	st.again = true
	if st.failures > 0 {
		return
	}
	st.dry = 0
	if at := st.last.Add(l.pace()); at.Before(st.at) {
		st.at = at
	}
}

// dryPause returns the pause before the next look after the given number of looks in
// a row that found nothing, and lets the relay fall asleep when its time has come.
func (l *loop) dryPause(dry int) time.Duration {
	poll := jittered(l.cfg.PollingInterval)
	if l.cfg.Strategy != ListenNotify {
		return poll
	}
	sl := &l.sleep
	if dry <= dryLooks {
		return min(poll, firstDry<<(dry-1))
	}
	if l.registrar() == nil {
		return poll
	}
	if !sl.asleep {
		sl.wanted = true
		return poll // the answer to the advertisement makes the next look
	}
	if sl.looks < lastLooks {
		sl.looks++
		return min(poll, lastLook)
	}
	return poll
}

// woken notes whether a look found something.
func (sl *sleepState) woken(found bool) {
	if found {
		sl.wanted, sl.looks = false, 0
	}
}

// advertiseTime returns when the registry is to be told something.
func (l *loop) advertiseTime() (time.Time, bool) {
	sl := &l.sleep
	if sl.busy || !l.claims.made || l.registrar() == nil || l.stopping.Load() {
		return time.Time{}, false
	}
	if sl.wanted != sl.asleep && sl.failing == 0 {
		return time.Time{}, true
	}
	return sl.at, true
}

// advertise tells the registry how things are, if it is time.
func (l *loop) advertise(now time.Time) {
	at, ok := l.advertiseTime()
	if !ok || now.Before(at) {
		return
	}
	sl, registrar := &l.sleep, l.registrar()
	sl.busy = true
	a := advertised{asleep: sl.wanted}
	ad := Advertisement{Asleep: sl.wanted, Scopes: scopes(sl.scope), Stale: staleBeats * heartbeat}
	l.background(func() {
		ctx, cancel := l.storeContext(l.cfg.StoreTimeout)
		defer cancel()
		a.alive, a.err = guard("relay.advertise", func() (int, error) {
			return registrar.Advertise(ctx, ad)
		})
		l.adverts <- a
	})
}

func (l *loop) onAdvertised(ctx context.Context, a advertised) {
	sl := &l.sleep
	sl.busy = false
	now := time.Now()
	if a.err != nil {
		sl.failing++
		sl.at = now.Add(Backoff(failedPause, heartbeat, sl.failing, rand.Float64()))
		l.cfg.Logger.WarnContext(ctx, "relay not registered; polling finds new entries", "error", a.err)
		return
	}
	sl.failing, sl.alive = 0, a.alive
	sl.at = now.Add(jittered(heartbeat))
	fell := a.asleep && !sl.asleep
	sl.asleep = a.asleep
	if fell {
		sl.looks = 0
		l.claims.at = now // look once more: what was committed meanwhile was not notified
	}
}

// scopes describes what a relay delivers, for the registry.
func scopes(snapshot claim.Snapshot) map[destination.Type]json.RawMessage {
	out := map[destination.Type]json.RawMessage{}
	for _, ts := range snapshot.Types() {
		out[ts.Type] = json.RawMessage(`"*"`)
		if !ts.All {
			if doc, err := json.Marshal(ts.Targets); err == nil {
				out[ts.Type] = doc
			}
		}
	}
	return out
}

// jittered spreads relays that would otherwise move in step.
func jittered(d time.Duration) time.Duration {
	return d - time.Duration(rand.Float64()*0.1*float64(d))
}
