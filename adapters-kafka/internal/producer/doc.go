// Package producer sends records through one shared asynchronous sarama producer
// and gives each caller its own result within its own context.
//
// sarama's producers take no context: a send can wait for ever behind a broker that
// does not answer. Here the caller waits for the result or for the end of its
// context, whichever is first; a result that comes late is noted and never read.
// Records that are still queued inside the client when their caller gave up are not
// sent any more. Those that are already part of a request may still arrive: only the
// context's end is certain, not the record's fate.
//
// The connection is made at the first use, in the background, so that a broker that
// is down does not stop a service from starting. Close flushes, and cuts the
// connections when its own context ends first.
package producer
