// Package wakeup tests that relays learn of work in time, whatever happens to the connection that should tell them.
//
// Two things are tested apart. The listener has to survive everything a network, a server and a pooler do to it, and to
// say what state it is in. A relay with a working listener must not wait for its poll, which is set to longer than a
// test waits; a relay with a broken one must go on by polling, at no more than the usual cost.
package wakeup
