// Package daemon runs a server program as a child of this process, under three rules.
//
//   - It is never left behind. The kernel signals it when this process dies (Linux), and a guard, a small shell that
//     waits on a pipe, stops it and removes its folder when the pipe closes (every Unix). Both also work when this
//     process is killed with SIGKILL and can do nothing itself.
//   - It is never root. A process started by root runs its servers as the user postgres, or as nobody where that user
//     does not exist: PostgreSQL refuses root, and the others need no privilege either.
//   - It keeps to one folder. Data, log and process id of a server live in one temporary folder, which is removed with it.
//
// The package does not know which server it runs. How to ask the server to end, and how to see that it is ready, are
// its callers' business.
package daemon
