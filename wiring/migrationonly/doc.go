// Package migrationonly is the injector of a program that migrates the tables and does
// nothing else, for example as a step of a deployment under a role that owns them.
package migrationonly
