// Package wiring puts the parts of satchel together with google/wire: which constructor
// needs what, in which order things start, and in which order they end.
//
// It is the only module that imports google/wire. Nothing else needs it: an application can
// call the constructors itself, and the code that wire generates does just that.
//
// # Injectors
//
// Five packages hold an injector that can be called as it is. Each returns what the
// application needs and a function that releases it:
//
//	everything      all destinations, publishers for pgx, migrations
//	kafkaonly       Kafka
//	serviceonly     functions inside the application
//	jobonly         delayed jobs
//	migrationonly   the migrations, without relays and without a pool
//
//	rt, cleanup, err := kafkaonly.New(tree, wiring.Inputs{Database: wiring.Database{URL: url}}, kafkaConfig)
//	...
//	defer cleanup()
//	err = rt.App.Run(ctx)
//
// An application with handlers of its own, or with another choice of destinations, writes an
// injector of its own: [Base], the sets of the destinations it wants (packages kafkaset,
// serviceset, jobset, webhookset), and one provider of []delivery.Handler that lists the
// handlers by name.
//
// # Guarantees
//
// A destination whose package is not imported is not in the program. What an injector lacks
// is reported by wire when the code is generated, and by the compiler after that. What can
// only be known at start, such as two handlers for one destination type, is an error of the
// injector before anything runs, and what was built by then is released.
//
// No injector connects to anything, so a database or a broker that is down does not keep a
// service from starting; relays find it when it is there.
//
// [App.Run] ends in order: relays first, which finish what they deliver and record it; then
// the scheduler and the listener. Only after that the cleanup function closes handlers and
// the pool, also when it is called while Run runs.
//
// # Not guaranteed
//
// Whether the tables have the right form is not looked at: see package migrationset. Whether
// the pool is large enough for relays and application together is the application's to know;
// a URL without pool_max_conns gets five connections for each relay and five more.
package wiring
