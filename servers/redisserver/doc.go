// Package redisserver finds a Redis server for tests and demonstrations, or starts one.
//
// Find tries, in this order: the server that SATCHEL_REDIS_URL names; redis-server on PATH; a container of
// SATCHEL_REDIS_IMAGE (default redis:7), when a local Docker engine answers; and miniredis, a stand-in inside this
// process, which says that it is one and is refused with Options.Require or SATCHEL_REQUIRE_REAL=1. An image that is
// named is used or reported: nothing after it is tried, and no redis-server on PATH.
//
//	server, err := redisserver.Find(ctx, redisserver.Options{})
//	if err != nil { ... }
//	defer server.Stop(ctx)
//	options, err := redis.ParseURL(server.URL)
//
// Guarantees: as for package servers. A started server writes every command to its append-only file before it
// answers, so that Restart and Crash lose nothing that was confirmed.
//
// Non-guarantees: the stand-in cannot be paused (errors.ErrUnsupported), lets keys expire only by wall-clock
// commands of its own, and lives in this process.
package redisserver
