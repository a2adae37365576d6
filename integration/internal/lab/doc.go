// Package lab is what the integration tests share: databases, a TCP proxy that misbehaves on command, child processes
// that can be killed, relays that stop with their test, and a journal of deliveries that is checked against the
// guarantees of the library.
//
// # Databases
//
// [Main] belongs in TestMain. The first [New] of a process migrates a template database on the server that
// SATCHEL_DATABASE_URL names; each test gets a copy, and Main drops all of them. A test that breaks its server starts
// one with [Private] instead.
//
// # Children
//
// A test binary that finds a role in its environment acts it instead of running tests. [Start] starts one; it ends by
// [Child.Kill] (SIGKILL), by itself, or at the latest when its parent does, since it watches its standard input.
//
// # The journal
//
// Handlers write an event when they begin and when they end. A journal is a file that all processes append to, so it
// survives any of them, and its order is one order for all. [Journal.Check] finds lost entries, entries that came before
// their turn, deliveries of one aggregate that overlapped, and repetitions that no crash explains.
package lab
