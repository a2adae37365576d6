// Package benchmarks measures satchel and prints what it found; it exports nothing.
//
// The command cmd/bench runs the cases of package cases, one after another, against one
// PostgreSQL server, and writes raw results (JSON), a table (Markdown) and plots (SVG).
// With -peers it also runs River and watermill-sql on the same server, from the module
// in the folder peers, so that nobody who uses satchel downloads them.
//
//	go run ./cmd/bench              # the short run, some minutes
//	go run ./cmd/bench -full -peers # everything, about an hour
//	go run ./cmd/bench -case claim  # some cases
//
// # What a figure means
//
// All contenders of a comparison run in the same run, on the same server with the same
// settings, with payloads of the same size. Where two things are compared, rounds of
// both alternate, so that a slower minute of the machine hits both. What must hold are
// ratios within one run, never times.
//
// By default the server is a temporary one with fsync off: the disks of developers'
// machines differ by more than what is compared here. Everything else is as durable as
// usual (synchronous_commit on, full page writes on); -durable turns fsync on.
//
// # What a figure does not mean
//
// Client and server share the machine's processors, so a figure is neither that of a
// server of its own nor a promise for another machine.
package benchmarks
