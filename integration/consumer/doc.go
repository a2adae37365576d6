// Package consumer shows that the modules of satchel can be used from outside.
//
// Its test publishes every module to a module proxy that is a folder, as a release would,
// and then works like a user: it makes a module elsewhere, gets what a program needs, looks
// at what came along, builds the program, and runs it against a real PostgreSQL. That finds
// what the workspace hides: a replace line that a user does not have, a requirement that is
// missing, a file that is left out, and a dependency that nobody asked for.
package consumer
