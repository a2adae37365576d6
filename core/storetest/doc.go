// Package storetest is the conformance suite of stores: it shows that an
// implementation of relay.Store, maintenance.Store, outbox.Writer and inbox.Recorder
// keeps what the ports promise. It uses the standard library only, so calling it puts
// nothing into the module of whoever does.
//
// A store's test supplies a [Harness], which makes a fresh store for each test, and
// calls [Run]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, storetest.Harness{New: newFixture, Features: storetest.Features{Runs: true}})
//	}
//
// What newFixture returns is some thirty lines: see the conformance test of package
// memstore, and the example of [Fixture].
//
// The suite sees the store through its ports and, for what no port shows, through a
// [Table]: the stored rows, and a way to make them older, since stores use their own
// clock and a test cannot wait for a month to pass.
//
// # What it covers
//
// Visibility of entries at commit, savepoints, fidelity of payloads, the inbox and its
// races; eligibility, scopes, order inside aggregates, ordered runs; every outcome,
// fencing by lease, renewal, recovery and repair, retention; and concurrent sessions
// under a checker that knows which entry may start. What a store need not have is
// named in [Features], and a test that is skipped for it says so.
//
// # What it does not cover
//
// Speed, plans, and anything about connections. Races are run as loops of a modest
// length; with SATCHEL_STRESS=1 in the environment they are about twenty times longer.
//
// [Flaky] is the second half of the package: a decorator that makes a store fail at a
// chosen call, before or after the call took effect.
package storetest
