// Package servers is about the real servers that tests, demonstrations and benchmarks of satchel use.
//
// The packages pgserver, redisserver and kafkaserver each find one server: the one that an environment variable names,
// or else one that they start themselves, from programs on this machine, from a container, or from a download. The
// command cmd/with does the same for any other command:
//
//	go run ./servers/cmd/with -postgres -redis -kafka -- make test
//
// # Guarantees
//
//   - Nothing connects to a server that it was not given and did not start. In particular no well-known port is tried:
//     what listens on 5432 of a developer's machine is never touched.
//   - A given server is never stopped, and one that does not answer is an error, not a reason to use another.
//   - A started server listens on the loopback interface only, keeps all its data in a temporary folder or a container,
//     never runs as root, and ends with the process that started it, even if that is killed.
//   - Every server says its version and where it came from; a stand-in says that it is one.
//
// # Non-guarantees
//
//   - A started server asks for no password: every local user may connect while it runs. It is for made-up data.
//   - On systems without Linux's parent-death signal, killing both the process and the small guard that watches over
//     it leaves the server behind.
package servers
